public import PresenceCore

/// The answer to a question about the service, or to a change of a password.
public enum QuestionAnswer: Sendable {
    case stats([StatsField])
    case metrics([UInt8])
    case why(WhyReport, subscriber: [UInt8], publisher: [UInt8])
    case top(TopReport)
    /// The password is set; whether there was another.
    case passwordSet(replaced: Bool)
    /// The password is removed; whether there was one.
    case passwordRemoved(Bool)
}

extension [UInt8] {
    /// Appends the `result` of a response. Its lists are short, so it always fits into a frame.
    public mutating func appendResult(_ answer: QuestionAnswer, in effects: borrowing Effects) {
        switch answer {
        case .stats(let fields):
            append("{")
            appendFields(fields)
            append("}")
        case .metrics(let text):
            append(#"{"text":"#)
            appendString(text.span)
            append("}")
        case .why(let report, let subscriber, let publisher):
            append(report, subscriber: subscriber, publisher: publisher, in: effects)
        case .top(let report): append(report, in: effects)
        case .passwordSet(let replaced):
            append(#"{"replaced":"#)
            append(replaced)
            append("}")
        case .passwordRemoved(let removed):
            append(#"{"removed":"#)
            append(removed)
            append("}")
        }
    }

    /// Appends a response with this result, unless the request has no `id`.
    public mutating func appendResponse(
        to id: RequestID, _ appendResult: (inout Self) -> Void
    ) {
        guard id != .none else { return }
        beginResponse(to: id)
        appendResult(&self)
        endResponse(to: id)
    }
}
