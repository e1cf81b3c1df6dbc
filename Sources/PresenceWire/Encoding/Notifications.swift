public import PresenceCore

extension [UInt8] {
    /// Appends the notification that a login list is complete.
    public mutating func appendSyncedBody(count: Int) {
        append(#"{"jsonrpc":"2.0","method":"synced","params":{"count":"#, count)
        append("}}")
    }

    /// Appends the notification that the connection is about to be closed. The message of
    /// `kicked` is the reason that the app server gave. `sentence` is for a violation of a
    /// particular kind.
    public mutating func appendCloseBody(
        _ reason: CloseReason, _ sentence: StaticString? = nil, retryAfterSeconds: Int? = nil
    ) {
        append(#"{"jsonrpc":"2.0","method":"close","params":{"code":"#, reason.code)
        append(#","reason":""#)
        append(reason.word)
        append(#"","message":"#)
        if case .kicked(let text?) = reason {
            appendString(text.span)
        } else {
            append("\"")
            append(sentence ?? reason.sentence)
            append("\"")
        }
        if let retryAfterSeconds { append(#","retryAfter":"#, retryAfterSeconds) }
        append("}}")
    }

    /// Appends the notification that subscriptions to `effects.names[range]` have ended, as many
    /// as the limit allows but at least one, and returns the rest. Nothing for an empty range.
    public mutating func appendExpiredBody(
        _ type: EventType, _ cause: SubscriptionEnd, _ range: Range<Int>,
        in effects: borrowing Effects, limits: Limits
    ) -> Range<Int> {
        guard !range.isEmpty else { return range }
        let source = EventSource(effects)
        let bound = count + limits.serverFrameBytesMax - 3
        append(#"{"jsonrpc":"2.0","method":"expired","params":{"type":"#, Int(type.number))
        switch cause {
        case .expired: break
        case .unsubscribed: append(#","cause":"unsubscribed""#)
        }
        append(#","publishers":["#)
        var next = range.lowerBound
        while next < range.upperBound {
            let before = count
            let isFirst = next == range.lowerBound
            if !isFirst { append(",") }
            appendString(effects.names[next], source)
            if count > bound && !isFirst {
                removeLast(count - before)
                break
            }
            next += 1
        }
        append("]}}")
        return next..<range.upperBound
    }
}

extension CloseReason {
    /// The `message` of the notification.
    fileprivate var sentence: StaticString {
        switch self {
        case .protocolViolation: "A frame was not completed in time."
        case .loginTimeout: "No login on this connection within the time limit."
        case .tokenExpired: "The token has expired; log in with a new one."
        case .idleTimeout: "The client sent nothing for too long."
        case .replaced: "Another login took the place of this session."
        case .kicked: "An app server ended this session."
        case .tooSlow: "The client did not read what was sent to it."
        case .shuttingDown: "The service is shutting down; reconnect later."
        case .overloaded: "The service is overloaded; reconnect later."
        }
    }
}
