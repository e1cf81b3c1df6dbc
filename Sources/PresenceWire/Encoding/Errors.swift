public import PresenceCore

extension [UInt8] {
    /// Appends the error for a request that could not be decoded; nothing without an `id`.
    public mutating func appendErrorBody(_ error: RequestError) {
        switch error.cause {
        case .envelope(let envelope): appendErrorBody(envelope, to: error.id)
        case .rejected(let rejection): appendErrorBody(rejection, to: error.id, in: Effects())
        }
    }

    /// Appends the error for an invalid request object; nothing without an `id`.
    public mutating func appendErrorBody(_ error: EnvelopeError, to id: RequestID) {
        guard id != .none else { return }
        beginError(code: error.reason.code, to: id)
        appendMessage(of: error)
        beginData(reason: error.reason.rawValue)
        append(field: error.field?.rawValue)
        if let limit = error.limit { append(#","limit":"#, limit) }
        if let position = error.position { append(#","position":"#, position) }
        endError()
    }

    /// Appends the error for a rejected request; nothing without an `id`. `effects` has the names
    /// that the rejection refers to.
    public mutating func appendErrorBody(
        _ rejection: Rejection, to id: RequestID, in effects: borrowing Effects
    ) {
        guard id != .none else { return }
        beginError(code: rejection.reason.code, to: id)
        appendMessage(of: rejection)
        beginData(reason: rejection.reason.rawValue)
        appendMembers(of: rejection, in: effects)
        endError()
    }

    /// Appends the members of `data` that follow the reason.
    mutating func appendMembers(of rejection: Rejection, in effects: borrowing Effects) {
        append(field: rejection.field?.rawValue)
        if let index = rejection.index { append(#","index":"#, index) }
        if let character = rejection.character { append(character: character) }
        if let min = rejection.min { append(#","min":"#, min) }
        if let max = rejection.max { append(#","max":"#, max) }
        if let limit = rejection.limit { append(#","limit":"#, limit) }
        if let count = rejection.count { append(#","count":"#, count) }
        if let seconds = rejection.retryAfterSeconds { append(#","retryAfter":"#, seconds) }
        if let failed = rejection.failed { append(failed: failed, of: rejection, in: effects) }
    }

    private mutating func append(
        failed: Range<Int>, of rejection: Rejection, in effects: borrowing Effects
    ) {
        let source = EventSource(effects)
        append(#","failed":["#)
        for index in failed {
            if index != failed.lowerBound { append(",") }
            append(rejection.areRecipients ? #"{"account":"# : #"{"publisher":"#)
            appendString(effects.names[index], source)
            append(#","reason":""#)
            append(contentsOf: rejection.reason.rawValue.utf8)
            append("\"}")
        }
        append("]")
    }

    private mutating func beginError(code: Int, to id: RequestID) {
        append(#"{"jsonrpc":"2.0","id":"#)
        append(id)
        append(#","error":{"code":"#, code)
        append(#","message":""#)
    }

    private mutating func beginData(reason: String) {
        append(#"","data":{"reason":""#)
        append(contentsOf: reason.utf8)
        append("\"")
    }

    private mutating func append(field: String?) {
        guard let field else { return }
        append(#","field":""#)
        append(contentsOf: field.utf8)
        append("\"")
    }

    private mutating func append(character: Unicode.Scalar) {
        append(#","character":"#)
        appendString(Array(String(character).utf8).span)
    }

    private mutating func endError() {
        append("}}}")
    }
}

extension Rejection {
    /// Whether those in `failed` are the recipients of a message.
    fileprivate var areRecipients: Bool { field == .accounts || reason == .inboxFull }
}
