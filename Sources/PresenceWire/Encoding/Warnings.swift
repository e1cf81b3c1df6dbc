internal import PresenceCore

// What a result says of members that were ignored.

extension RequestID {
    /// The bytes that `endResponse` appends, at most.
    var endBytesMax: Int {
        guard case .warned(_, let warnings) = self else { return 1 }
        return warnings.reduce(32) { $0 + 128 + 6 * $1.field.count }
    }
}

extension [UInt8] {
    /// Ends a response that ends with its result, which is an object.
    mutating func endResponse(to id: RequestID) {
        if case .warned(_, let warnings) = id { addWarnings(warnings) }
        append("}")
    }

    /// Adds `warnings` to the object with which this ends, unless there are none.
    public mutating func addWarnings(_ warnings: [ParameterWarning]) {
        guard !warnings.isEmpty else { return }
        precondition(last == UInt8(ascii: "}"), "warnings in what is no object")
        removeLast()
        append(last == UInt8(ascii: "{") ? #""warnings":["# : #","warnings":["#)
        for (index, warning) in warnings.enumerated() {
            if index > 0 { append(",") }
            append(#"{"field":"#)
            appendString(warning.field.span)
            append(#","suggestion":""#)
            append(contentsOf: warning.suggestion.rawValue.utf8)
            append(#"","message":"This member is not known here and was ignored; did you mean `"#)
            append(contentsOf: warning.suggestion.rawValue.utf8)
            append(#"`?"}"#)
        }
        append("]}")
    }
}
