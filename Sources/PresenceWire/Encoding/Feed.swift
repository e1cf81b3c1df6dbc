internal import PresenceCore

// The feed: the same bytes as in `events` notifications, in bodies with the cursor at which a
// reader can resume.

/// A position in the feed: after which event, of which ring of events.
public struct FeedCursor: Hashable, Sendable {
    /// Distinguishes the ring from any other ring of any service.
    public var epoch: UInt64
    /// The event's `seq`.
    public var seq: UInt64

    /// A position.
    public init(epoch: UInt64, seq: UInt64) {
        self.epoch = epoch
        self.seq = seq
    }

    /// The number of characters in a cursor. The last thirteen are the event's `id`.
    static let characters = 2 * Base32.characters

    /// Its text: opaque to clients.
    public var text: String {
        var bytes: [UInt8] = []
        bytes.appendDigits(of: self)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The cursor with this text; nil if there is none.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(bytes, at: ByteRange(start: 0, count: Int32(clamping: bytes.count)))
    }

    /// The cursor that a text encodes; nil if it is invalid.
    init?(_ text: [UInt8], at range: ByteRange) {
        guard range.count == Self.characters else { return nil }
        let half = Int32(Base32.characters)
        let first = ByteRange(start: range.start, count: half)
        let second = ByteRange(start: range.start + half, count: half)
        guard let epoch = Base32.value(of: text, at: first),
            let seq = Base32.value(of: text, at: second)
        else { return nil }
        self.init(epoch: epoch, seq: seq)
    }
}

extension ArraySlice<UInt8> {
    /// The event in a body made by `appendEventBody`.
    public var eventOfBody: ArraySlice<UInt8> {
        dropFirst(EventBody.start.utf8CodeUnitCount).dropLast(EventBody.end.utf8CodeUnitCount)
    }
}

extension [UInt8] {
    /// Appends the response to `feed`: the reader resumes after the cursor, or is reset.
    public mutating func appendFeedAnswerBody(goingOnFrom cursor: FeedCursor?, to id: RequestID) {
        appendResponse(to: id) {
            guard let cursor else { return $0.appendFeedResetParams() }
            $0.append(#"{"reset":false,"cursor":"#)
            $0.append(cursor)
            $0.append("}")
        }
    }

    /// Appends the notification of `events`, encoded and separated by commas, after which a reader
    /// can resume at the cursor; nil: its snapshot is incomplete.
    public mutating func appendFeedEventsBody(
        _ events: ArraySlice<UInt8>, cursor: FeedCursor?
    ) {
        appendFeedBody { $0.appendFeedParams(events, cursor: cursor) }
    }

    mutating func appendFeedParams(_ events: some Collection<UInt8>, cursor: FeedCursor?) {
        append(#"{"events":["#)
        append(contentsOf: events)
        if let cursor {
            append(#"],"cursor":"#)
            append(cursor)
            append("}")
        } else {
            append(#"],"snapshot":true}"#)
        }
    }

    /// Appends the notification that a reader is reset.
    public mutating func appendFeedResetBody() {
        appendFeedBody { $0.appendFeedResetParams() }
    }

    mutating func appendFeedResetParams() {
        append(#"{"reset":true}"#)
    }

    /// Appends the notification that the snapshot is complete.
    public mutating func appendFeedSyncedBody(cursor: FeedCursor) {
        appendFeedBody { $0.appendFeedSyncedParams(cursor: cursor) }
    }

    mutating func appendFeedSyncedParams(cursor: FeedCursor) {
        append(#"{"synced":true,"cursor":"#)
        append(cursor)
        append("}")
    }

    private mutating func appendFeedBody(_ appendParams: (inout Self) -> Void) {
        append(#"{"jsonrpc":"2.0","method":"feed","params":"#)
        appendParams(&self)
        append("}")
    }

    /// Appends a cursor as a quoted string.
    mutating func append(_ cursor: FeedCursor) {
        append("\"")
        appendDigits(of: cursor)
        append("\"")
    }

    fileprivate mutating func appendDigits(of cursor: FeedCursor) {
        for number in [cursor.epoch, cursor.seq] {
            for digit in stride(from: 5 * (Base32.characters - 1), through: 0, by: -5) {
                append(Base32.digit(Int(number >> UInt64(digit) & 31)))
            }
        }
    }
}
