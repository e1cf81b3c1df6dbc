public import PresenceCore

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
                let fit = appendEvent(
                    effects.events[next], source, after: next > first, upTo: frameEnd)
                guard fit || next == first else { break }
                next += 1
            }
            append(end)
            endFrame(start)
        }
    }

    /// Appends an event as an element of an array, or nothing where it would pass `end`; the
    /// first element is appended in any case.
    mutating func appendEvent(
        _ event: Event, _ source: borrowing EventSource, after isFollower: Bool, upTo end: Int
    ) -> Bool {
        let before = count
        append(bytesMax: 1 + source.bytesMax(event)) { writer in
            if isFollower { writer.byte(UInt8(ascii: ",")) }
            writer.event(event, source)
        }
        guard count > end, isFollower else { return count <= end }
        removeLast(count - before)
        return false
    }

    /// Appends room for a frame's length and gives its place.
    mutating func beginFrame() -> Int {
        let start = count
        append("\0\0\0\0")
        return start
    }

    /// Writes the length of the frame that began at `start`.
    mutating func endFrame(_ start: Int) {
        let length = UInt32(clamping: count - start - FrameSplitter.lengthBytes)
        for index in 0..<FrameSplitter.lengthBytes {
            self[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index))
        }
    }

    /// Appends bytes of ours.
    mutating func append(_ literal: StaticString) {
        unsafe append(
            contentsOf: UnsafeBufferPointer(
                start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }
}
