public import PresenceCore

// Messages of accounts: the notification that delivers them, and the results of their methods.

extension MessageID {
    /// As clients are sent it, without quotes.
    public var text: [UInt8] {
        var text: [UInt8] = []
        text.appendBase32(number)
        return Array(text.dropFirst().dropLast())
    }
}

extension [UInt8] {
    /// Appends the notification with messages, in their order: as many as the limit allows but at
    /// least one. Returns the rest; nothing is appended for none.
    public mutating func appendMessagesBody(
        _ messages: ArraySlice<DeliveredMessage>, limits: Limits
    ) -> ArraySlice<DeliveredMessage> {
        guard !messages.isEmpty else { return messages }
        let bound = count + limits.serverFrameBytesMax - 3
        append(#"{"jsonrpc":"2.0","method":"messages","params":{"messages":["#)
        var rest = messages
        while let message = rest.first {
            let before = count
            let isFirst = rest.count == messages.count
            if !isFirst { append(",") }
            append(message)
            if count > bound && !isFirst {
                removeLast(count - before)
                break
            }
            rest.removeFirst()
        }
        append("]}}")
        return rest
    }

    /// Appends the notification with a copy of a message, for other sessions of its sender. Without
    /// the recipients if it would be too long.
    public mutating func appendSentBody(
        _ message: DeliveredMessage, _ copy: MessageCopy, in effects: borrowing Effects,
        limits: Limits
    ) {
        let start = count
        appendSentBody(message, copy, to: copy.recipients ?? 0..<0, in: effects)
        guard count - start > limits.serverFrameBytesMax else { return }
        removeLast(count - start)
        appendSentBody(message, copy, to: 0..<0, in: effects)
    }

    private mutating func appendSentBody(
        _ message: DeliveredMessage, _ copy: MessageCopy, to names: Range<Int>,
        in effects: borrowing Effects
    ) {
        append(#"{"jsonrpc":"2.0","method":"sent","params":{"sent":[{"id":"#)
        appendBase32(message.id.number)
        for place in names {
            append(place == names.lowerBound ? #","to":["# : ",")
            appendString(effects.text(effects.names[place]).span)
        }
        if !names.isEmpty { append("]") }
        if let device = copy.device { appendText(#","device":"#, Array(effects.text(device))) }
        appendContents(of: message)
        append("]")
        if copy.missedCount > 0 { append(#","missed":"#, copy.missedCount) }
        append("}}")
    }

    private mutating func append(_ message: DeliveredMessage) {
        append(#"{"id":"#)
        appendBase32(message.id.number)
        appendText(#","from":"#, message.from)
        appendContents(of: message)
    }

    private mutating func appendContents(of message: DeliveredMessage) {
        appendText(#","fromDevice":"#, message.fromDevice)
        append(#","time":"#, message.time)
        appendText(#","body":"#, message.body)
        appendText(#","ext":"#, message.ext)
        // The id of a stanza is unique only within its stream (RFC 6120, section 8.1.3): by it, a
        // receiver would take another message for a repetition.
        if message.stanza == nil { appendText(#","ref":"#, message.ref) }
        if let stanza = message.stanza, stanza.kind == .receipt {
            appendText(#","receipt":"#, stanza.extra)
        } else if let stanza = message.stanza {
            append(#","type":"#)
            append(stanza.kind == .chat ? #""chat""# : #""normal""#)
            appendText(#","xml":"#, stanza.extra)
            appendText(#","stanzaId":"#, message.ref)
        }
        append("}")
    }

    /// Appends a member, unless its text is empty.
    mutating func appendText(_ key: StaticString, _ text: [UInt8]) {
        guard !text.isEmpty else { return }
        append(key)
        appendString(text.span)
    }

    mutating func appendResult(_ sent: Sent) {
        append(#"{"id":"#)
        appendBase32(sent.message.number)
        append(#","time":"#, sent.time)
        append(#","expires":"#, sent.expires)
        append(#","recipients":"#, sent.recipients)
        if let reached = sent.reached { append(#","reached":"#, reached) }
        if sent.passedOver > 0 { append(#","passedOver":"#, sent.passedOver) }
        append("}")
    }
}
