public import PresenceCore

/// A message that no device has taken in time, as a reader is sent it.
public struct UndeliveredEntry: Hashable, Sendable {
    /// When among all that were handed over: a position.
    public var number: UInt64
    /// The message; its texts may be cut.
    public var message: DeliveredMessage
    /// Whether they are.
    public var isCut: Bool
    /// Its recipient.
    public var account: [UInt8]
    /// Why.
    public var reason: UndeliveredReason
    /// Until when it waits.
    public var expires: Wall
    /// How many messages wait for the account; of one for a device alone, for that device.
    public var waiting: Int
    /// Where it may be pushed to.
    public var devices: [PushDevice]

    /// A message, with at most `textBytesMax` bytes of its texts, first of the body, cut at a
    /// character.
    public init(
        number: UInt64, message: DeliveredMessage, textBytesMax: Int, account: [UInt8],
        reason: UndeliveredReason, expires: Wall, waiting: Int, devices: [PushDevice]
    ) {
        self.number = number
        self.message = message
        let body = message.body.prefix(characters: textBytesMax)
        let isBodyCut = body.count < message.body.count
        let ext = isBodyCut ? [] : message.ext.prefix(characters: textBytesMax - body.count)
        isCut = isBodyCut || ext.count < message.ext.count
        self.message.body = body
        self.message.ext = ext
        self.account = account
        self.reason = reason
        self.expires = expires
        self.waiting = waiting
        self.devices = devices
    }
}

extension UndeliveredReason {
    /// The word on the wire.
    var word: StaticString {
        switch self {
        case .absent: "absent"
        case .untaken: "untaken"
        }
    }
}

extension [UInt8] {
    /// Appends a message of a list, with a comma unless it is the first.
    public mutating func appendUndelivered(_ entry: UndeliveredEntry, isFirst: Bool) {
        if !isFirst { append(",") }
        append(entry)
    }

    /// Appends the response to `undelivered`: the position after which the reader continues.
    public mutating func appendUndeliveredAnswerBody(cursor: FeedCursor, to id: RequestID) {
        appendResponse(to: id) {
            $0.append(#"{"cursor":"#)
            $0.append(cursor)
            $0.append("}")
        }
    }

    /// Appends the notification of messages, after which a reader can resume at the cursor.
    public mutating func appendUndeliveredBody(_ entries: ArraySlice<UInt8>, cursor: FeedCursor) {
        append(#"{"jsonrpc":"2.0","method":"undelivered","params":"#)
        appendUndeliveredParams(entries, cursor: cursor)
        append("}")
    }

    mutating func appendUndeliveredParams(
        _ entries: some Collection<UInt8>, cursor: FeedCursor
    ) {
        append(#"{"undelivered":["#)
        append(contentsOf: entries)
        append(#"],"cursor":"#)
        append(cursor)
        append("}")
    }

    private mutating func append(_ entry: UndeliveredEntry) {
        let message = entry.message
        append(#"{"message":"#)
        appendBase32(message.id.number)
        append(#","account":"#)
        appendString(entry.account.span)
        appendText(#","from":"#, message.from)
        appendText(#","fromDevice":"#, message.fromDevice)
        append(#","why":"#)
        append("\"")
        append(entry.reason.word)
        append("\"")
        append(#","time":"#, message.time)
        append(#","expires":"#, entry.expires)
        appendText(#","body":"#, message.body)
        appendText(#","ext":"#, message.ext)
        if entry.isCut { append(#","cut":true"#) }
        if message.stanza == nil { appendText(#","ref":"#, message.ref) }
        append(#","waiting":"#, entry.waiting)
        append(#","devices":["#)
        for (place, device) in entry.devices.enumerated() {
            if place > 0 { append(",") }
            append(device)
        }
        append("]}")
    }

    private mutating func append(_ device: PushDevice) {
        append(#"{"device":"#)
        appendString(device.name.span)
        if let client = device.client {
            append(#","client":""#)
            append(client.word)
            append("\"")
        }
        if device.reach == .push { append(#","push":true"#) }
        appendMembers(of: device.labels)
        append("}")
    }

    /// The first bytes, at most this number, that are whole characters of UTF-8.
    fileprivate func prefix(characters byteCount: Int) -> [UInt8] {
        guard count > byteCount else { return self }
        var end = Swift.max(0, byteCount)
        while end > 0, self[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(prefix(end))
    }
}
