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
enum EventBody {
    static let start: StaticString = #"{"jsonrpc":"2.0","method":"events","params":{"events":["#
    static let feedStart: StaticString = #"{"jsonrpc":"2.0","method":"feed","params":{"events":["#
    static let end: StaticString = "]}}"
}

extension EventList {
    fileprivate var start: StaticString {
        self == .feedList ? EventBody.feedStart : EventBody.start
    }

    /// The most bytes of a body. The feed combines bodies into its own lists.
    fileprivate func bytesMax(_ limits: Limits) -> Int {
        self == .feedList
            ? min(1 << 17, limits.serverFrameBytesMax) : limits.serverFrameBytesMax
    }

    var end: StaticString {
        switch self {
        case .changes: EventBody.end
        case .loginList: #"],"sync":true}}"#
        case .feedList: #"],"snapshot":true}}"#
        }
    }
}

extension [UInt8] {
    /// Appends the notification of one event.
    ///
    /// The bytes are the same for every subscriber.
    public mutating func appendEventBody(_ event: Event, in effects: borrowing Effects) {
        let source = EventSource(effects)
        append(bytesMax: 100 + source.bytesMax(event)) { writer in
            writer.literal(EventBody.start)
            writer.event(event, source)
            writer.literal(EventBody.end)
        }
    }

    /// Appends a notification with `effects.events[range]`, as many as the limits of states and
    /// bytes allow but at least one, and returns the rest. Nothing for an empty range.
    public mutating func appendEventsBody(
        _ range: Range<Int>, of list: EventList, in effects: borrowing Effects, limits: Limits
    ) -> Range<Int> {
        guard !range.isEmpty else { return range }
        let end = list.end
        let bound = count + list.bytesMax(limits) - end.utf8CodeUnitCount
        append(list.start)
        let rest = appendEvents(range, in: effects, limits, upTo: bound)
        append(end)
        return rest
    }

    /// Appends states for a reader of the feed, with commas between them, as many as a notification
    /// holds, and returns the rest.
    public mutating func appendFeedStates(
        _ range: Range<Int>, in effects: borrowing Effects, limits: Limits
    ) -> Range<Int> {
        let bound = count + EventList.feedList.bytesMax(limits)
        return appendEvents(range, in: effects, limits, upTo: bound)
    }

    /// Appends one state.
    public mutating func appendState(_ index: Int, in effects: borrowing Effects) {
        appendEvent(effects.events[index], EventSource(effects), .first)
    }

    /// Appends events with commas between them, at least one if there is one.
    private mutating func appendEvents(
        _ range: Range<Int>, in effects: borrowing Effects, _ limits: Limits, upTo bound: Int
    ) -> Range<Int> {
        let source = EventSource(effects)
        var next = range.lowerBound
        while next < range.upperBound, next - range.lowerBound < limits.statesPerFrameMax {
            let before = count
            let isFirst = next == range.lowerBound
            appendEvent(effects.events[next], source, isFirst ? .first : .following)
            if count > bound && !isFirst {
                removeLast(count - before)
                break
            }
            next += 1
        }
        return next..<range.upperBound
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
