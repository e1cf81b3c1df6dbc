public import PresenceCore

extension [UInt8] {
    /// Appends the notification that a login list is complete.
    public mutating func appendSyncedFrame(count: Int) {
        let start = beginFrame()
        append(#"{"jsonrpc":"2.0","method":"synced","params":{"count":"#, count)
        append("}}")
        endFrame(start)
    }

    /// Appends the notification that the connection ends; who was kicked reads the reason that
    /// the app server gave.
    public mutating func appendCloseFrame(
        _ reason: CloseReason, retryAfterSeconds: Int? = nil
    ) {
        let start = beginFrame()
        append(#"{"jsonrpc":"2.0","method":"close","params":{"code":"#, reason.code)
        append(#","reason":""#)
        append(reason.word)
        append(#"","message":"#)
        if case .kicked(let text?) = reason {
            appendString(text.span)
        } else {
            append("\"")
            append(reason.sentence)
            append("\"")
        }
        if let retryAfterSeconds { append(#","retryAfter":"#, retryAfterSeconds) }
        append("}}")
        endFrame(start)
    }

    /// Appends the notification that subscriptions to `effects.names[range]` have run out, in
    /// as many frames as their bound demands; none for an empty range.
    public mutating func appendExpiredFrames(
        _ type: EventType, _ range: Range<Int>, in effects: borrowing Effects, limits: Limits
    ) {
        let source = EventSource(effects)
        var next = range.lowerBound
        while next < range.upperBound {
            let start = beginFrame()
            let bound = start + FrameSplitter.lengthBytes + limits.serverFrameBytesMax - 3
            append(#"{"jsonrpc":"2.0","method":"expired","params":{"type":"#, Int(type.number))
            append(#","publishers":["#)
            let first = next
            while next < range.upperBound {
                let before = count
                if next > first { append(",") }
                appendString(effects.names[next], source)
                if count > bound && next > first {
                    removeLast(count - before)
                    break
                }
                next += 1
            }
            append("]}}")
            endFrame(start)
        }
    }
}

extension CloseReason {
    /// What a person is told.
    fileprivate var sentence: StaticString {
        switch self {
        case .protocolViolation:
            "The bytes are no frames of this protocol, or a frame is too long."
        case .loginTimeout: "Nobody logged in on this connection in time."
        case .tokenExpired: "The token has expired; log in with a new one."
        case .idleTimeout: "Nothing was heard of the client for too long."
        case .replaced: "The same device of the same account has logged in elsewhere."
        case .kicked: "An app server has ended this session."
        case .tooSlow: "The client did not take what was sent to it."
        case .shuttingDown: "The service stops; come back later."
        case .overloaded: "The service has too much to do; come back later."
        }
    }
}
