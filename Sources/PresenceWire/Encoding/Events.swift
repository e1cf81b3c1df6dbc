public import PresenceCore

/// Where an element of an array stands.
enum ElementPlace {
    case first, following
}

/// What a list of events is to those who get it.
public enum EventList: UInt8, Sendable {
    /// What has happened.
    case changes
    /// States, with which a login begins.
    case loginList
}

extension [UInt8] {
    /// Appends a frame with one event.
    ///
    /// The bytes are the same for every receiver.
    public mutating func appendEventFrame(_ event: Event, in effects: borrowing Effects) {
        let source = EventSource(effects)
        append(bytesMax: 100 + source.bytesMax(event)) { writer in
            writer.literal("\0\0\0\0")
            writer.literal(#"{"jsonrpc":"2.0","method":"events","params":{"events":["#)
            writer.event(event, source)
            writer.literal("]}}")
            writer.frameLength(at: 0)
        }
    }

    /// Appends frames with `effects.events[range]`, as many as the bounds for states and bytes
    /// of a frame demand; none for an empty range.
    public mutating func appendEventFrames(
        _ range: Range<Int>, of list: EventList, in effects: borrowing Effects, limits: Limits
    ) {
        let source = EventSource(effects)
        var next = range.lowerBound
        while next < range.upperBound {
            let start = beginFrame()
            append(#"{"jsonrpc":"2.0","method":"events","params":{"events":["#)
            let end: StaticString = list == .loginList ? #"],"sync":true}}"# : "]}}"
            let frameEnd =
                start + FrameSplitter.lengthBytes + limits.serverFrameBytesMax
                - end.utf8CodeUnitCount
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
