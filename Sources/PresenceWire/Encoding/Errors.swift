public import PresenceCore

extension [UInt8] {
    /// Appends the answer to a request that could not be read; nothing where nobody is told.
    public mutating func appendErrorFrame(_ fault: RequestFault) {
        switch fault.cause {
        case .envelope(let envelope): appendErrorFrame(envelope, to: fault.id)
        case .refused(let refusal): appendErrorFrame(refusal, to: fault.id)
        }
    }

    /// Appends the answer to what is no request; nothing where there was no `id`.
    public mutating func appendErrorFrame(_ fault: EnvelopeFault, to id: RequestID) {
        guard id != .none else { return }
        let start = beginError(code: fault.reason.code, to: id)
        appendMessage(of: fault)
        beginData(reason: fault.reason.rawValue, field: fault.field?.rawValue)
        if let limit = fault.limit { append(#","limit":"#, limit) }
        endError(start)
    }

    /// Appends the answer to a request that was not carried out; nothing where there was no
    /// `id`.
    public mutating func appendErrorFrame(_ refusal: Refusal, to id: RequestID) {
        guard id != .none else { return }
        let start = beginError(code: refusal.reason.code, to: id)
        appendMessage(of: refusal)
        beginData(reason: refusal.reason.rawValue, field: refusal.field?.rawValue)
        if let min = refusal.min { append(#","min":"#, min) }
        if let max = refusal.max { append(#","max":"#, max) }
        if let limit = refusal.limit { append(#","limit":"#, limit) }
        if let count = refusal.count { append(#","count":"#, count) }
        if let seconds = refusal.retryAfterSeconds { append(#","retryAfter":"#, seconds) }
        endError(start)
    }

    private mutating func beginError(code: Int, to id: RequestID) -> Int {
        let start = beginFrame()
        append(#"{"jsonrpc":"2.0","id":"#)
        append(id)
        append(#","error":{"code":"#, code)
        append(#","message":""#)
        return start
    }

    private mutating func beginData(reason: String, field: String?) {
        append(#"","data":{"reason":""#)
        append(contentsOf: reason.utf8)
        append("\"")
        guard let field else { return }
        append(#","field":""#)
        append(contentsOf: field.utf8)
        append("\"")
    }

    private mutating func endError(_ start: Int) {
        append("}}}")
        endFrame(start)
    }
}
