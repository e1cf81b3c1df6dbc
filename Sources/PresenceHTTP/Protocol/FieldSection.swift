import HTTPValues

/// The fields of a head, or those behind a chunked body, line by line (RFC 9110, 5; RFC 9112, 5).
///
/// All of them are checked; only the values of names in `FieldName` are kept.
struct FieldSection: Sendable {
    /// What there may be of them.
    struct Limits: Sendable {
        var count: Int
        var bytes: Int
    }

    /// Elements of a list: a line of 30 KB can hold 15,000.
    private static let elementsMax = 100

    private let limits: Limits
    private var count = 0
    private var bytes = 0
    /// The line that the next one may continue.
    private var line: [UInt8]?
    private var values: [FieldName: [UInt8]] = [:]
    private(set) var hostCount = 0

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// The value of a field; those of several fields with this name are a list. Nil: none.
    subscript(name: FieldName) -> [UInt8]? { values[name] }

    /// The same, as text.
    func text(_ name: FieldName) -> String? {
        values[name].map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a list has this word, which is in lower case, in any case of the letters.
    func has(_ word: String, in name: FieldName) -> Bool {
        elements(of: name).contains { $0.elementsEqual(word.utf8) }
    }

    /// The elements of a list, with their letters in lower case; empty ones do not count.
    func elements(of name: FieldName) -> [[UInt8]] {
        (values[name] ?? []).split(separator: UInt8(ascii: ","))
            .map { $0.withoutBlanks.lowercasedASCII }.filter { !$0.isEmpty }
    }

    /// Takes a line without its end.
    mutating func take(_ next: [UInt8]) throws(HTTPError) {
        bytes += next.count
        guard bytes <= limits.bytes else { throw .fieldsTooLarge(bytesMax: limits.bytes) }
        guard next.first?.isBlank == true else {
            try takeComplete()
            line = next
            return
        }
        // A folded line, which RFC 9112, 5.2 has servers read as one with a space, or reject.
        guard line != nil else { throw .malformed("The first field must not be indented.") }
        line?.append(UInt8(ascii: " "))
        line?.append(contentsOf: next.drop { $0.isBlank })
    }

    /// Takes the empty line at the end.
    mutating func end() throws(HTTPError) {
        try takeComplete()
    }

    private mutating func takeComplete() throws(HTTPError) {
        guard let line else { return }
        self.line = nil
        count += 1
        guard count <= limits.count else { throw .tooManyFields(max: limits.count) }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            line[..<colon].allSatisfy({ $0.isTokenByte })
        else { throw .malformed("A field must be `Name: value`, without a space in the name.") }
        let value = Array(line[(colon + 1)...].withoutBlanks)
        guard value.allSatisfy(Self.isValueByte) else {
            throw .malformed("The value of a field must not contain NUL, CR, VT or FF.")
        }
        if let name = FieldName(line[..<colon]) { try keep(name, value) }
    }

    /// Other control characters are of no use, but no server ends a field at one of them, and some
    /// clients send them in cookies.
    private static func isValueByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0, 0x0A...0x0D: false
        default: true
        }
    }

    private mutating func keep(_ name: FieldName, _ value: [UInt8]) throws(HTTPError) {
        switch name {
        case .host: hostCount += 1
        case .contentLength:
            let length = try Self.length(value)
            guard values[name] == nil || values[name] == length else { throw .severalLengths }
            values[name] = length
            return
        case .transferEncoding:
            guard values[name] == nil, value.lowercasedASCII.elementsEqual("chunked".utf8) else {
                throw .onlyChunked
            }
        default: break
        }
        let list = values[name].map { $0 + Array(", ".utf8) + value } ?? value
        guard list.count(where: { $0 == UInt8(ascii: ",") }) < Self.elementsMax else {
            throw .malformed("A list in a field may have at most \(Self.elementsMax) elements.")
        }
        values[name] = list
    }

    /// The length that a field states: once, or several times the same.
    private static func length(_ value: [UInt8]) throws(HTTPError) -> [UInt8] {
        let lengths = value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map(\.withoutBlanks)
        guard let first = lengths.first, lengths.allSatisfy({ $0 == first }) else {
            throw .severalLengths
        }
        guard 1...20 ~= first.count, first.allSatisfy({ $0.isDigit }) else {
            throw .malformed("`Content-Length` must be a number.")
        }
        return Array(first)
    }
}
