public import PresenceCore

/// The position of an element in an array.
enum ElementPlace {
    case first, following
}

/// What the events of a notification are.
public enum EventList: UInt8, Sendable {
    /// Changes.
    case changes
    /// Current states in a login list.
    case loginList
    /// Current states in a snapshot of the feed.
    case feedList
}

/// The bytes around the events of a notification.
enum EventFrame {
    static let start: StaticString = #"{"jsonrpc":"2.0","method":"events","params":{"events":["#
    static let feedStart: StaticString = #"{"jsonrpc":"2.0","method":"feed","params":{"events":["#
    static let end: StaticString = "]}}"
}

extension EventList {
    fileprivate var start: StaticString {
        self == .feedList ? EventFrame.feedStart : EventFrame.start
    }

    /// Bytes in a frame. The feed combines frames into its own lists.
    fileprivate func bytesMax(_ limits: Limits) -> Int {
        self == .feedList
            ? min(1 << 17, limits.serverFrameBytesMax) : limits.serverFrameBytesMax
    }

    fileprivate var end: StaticString {
        switch self {
        case .changes: EventFrame.end
        case .loginList: #"],"sync":true}}"#
        case .feedList: #"],"snapshot":true}}"#
        }
    }
}

extension [UInt8] {
    /// Appends a frame with one event.
    ///
    /// The bytes are the same for every subscriber.
    public mutating func appendEventFrame(_ event: Event, in effects: borrowing Effects) {
        let source = EventSource(effects)
        append(bytesMax: 100 + source.bytesMax(event)) { writer in
            writer.literal("\0\0\0\0")
            writer.literal(EventFrame.start)
            writer.event(event, source)
            writer.literal(EventFrame.end)
            writer.frameLength(at: 0)
        }
    }

    /// Appends frames with `effects.events[range]`, as many as the limits of states and bytes
    /// per frame require; none for an empty range.
    public mutating func appendEventFrames(
        _ range: Range<Int>, of list: EventList, in effects: borrowing Effects, limits: Limits
    ) {
        let source = EventSource(effects)
        var next = range.lowerBound
        while next < range.upperBound {
            let start = beginFrame()
            append(list.start)
            let end = list.end
            let frameEnd =
                start + FrameSplitter.lengthBytes + list.bytesMax(limits) - end.utf8CodeUnitCount
            let first = next
            while next < range.upperBound, next - first < limits.statesPerFrameMax {
                let before = count
                appendEvent(effects.events[next], source, next == first ? .first : .following)
                if count > frameEnd && next > first {
                    removeLast(count - before)
                    break
                }
                next += 1
            }
            append(end)
            endFrame(start)
        }
    }

    /// Appends an event as an element of an array.
    mutating func appendEvent(
        _ event: Event, _ source: borrowing EventSource, _ place: ElementPlace
    ) {
        append(bytesMax: 1 + source.bytesMax(event)) { writer in
            if place == .following { writer.byte(UInt8(ascii: ",")) }
            writer.event(event, source)
        }
    }
}
