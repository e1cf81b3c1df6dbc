internal import PresenceCore

// The parts of responses and notifications. Unlike events they are sent to one connection each,
// so they are written part by part.

extension [UInt8] {
    /// Appends bytes that need no escapes.
    mutating func append(_ literal: StaticString) {
        unsafe append(
            contentsOf: UnsafeBufferPointer(
                start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    mutating func append(_ value: Int) {
        append(bytesMax: 20) { $0.integer(value) }
    }

    mutating func append(_ time: Wall) {
        append(bytesMax: 20) { $0.time(time) }
    }

    mutating func append(_ flag: Bool) {
        append(flag ? "true" : "false")
    }

    /// Appends a key with its punctuation, verbatim, and a number.
    mutating func append(_ key: StaticString, _ value: Int) {
        append(key)
        append(value)
    }

    mutating func append(_ key: StaticString, _ time: Wall) {
        append(key)
        append(time)
    }

    /// Appends a quoted string: UTF-8, escaped as JSON.
    public mutating func appendString(_ text: Span<UInt8>) {
        append(bytesMax: JSONWriter.escapedBytes(of: text) + 2) { $0.string(text) }
    }

    mutating func appendString(_ range: ByteRange, _ source: borrowing EventSource) {
        append(bytesMax: source.stringBytes(range)) { $0.string(range, source) }
    }

    /// Appends the quoted base32 of a number: an opaque string to clients.
    mutating func appendBase32(_ value: UInt64) {
        append(bytesMax: Base32.characters + 2) { $0.base32(value) }
    }

    /// Appends an `id`.
    mutating func append(_ id: RequestID) {
        switch id {
        case .none, .unknown: append("null")
        case .integer(let value): append(Int(value))
        case .text(let text): appendString(text.span)
        case .warned(let id, _): append(id)
        }
    }
}
