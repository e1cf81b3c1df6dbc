/// Finds where a text stops being JSON (RFC 8259). simdjson says only that it does.
///
/// For bodies that were rejected: it costs a pass over them, and a byte for each open bracket.
struct JSONScanner {
    private let text: [UInt8]
    private var offset = 0
    /// The brackets that are to be closed, the last first.
    private var closers: [UInt8] = []

    private init(_ text: [UInt8]) {
        self.text = text
    }

    /// The first byte at which this cannot be one JSON value, or its length if it is incomplete;
    /// nil if it is one, apart from UTF-8 and depth.
    static func errorOffset(in text: [UInt8]) -> Int? {
        var scanner = JSONScanner(text)
        return scanner.takesAll() ? nil : scanner.offset
    }

    private var byte: UInt8? { offset < text.count ? text[offset] : nil }

    private mutating func takesAll() -> Bool {
        repeat {
            guard takeValue() else { return false }
        } while !closers.isEmpty
        skipSpace()
        return offset == text.count
    }

    /// Takes a value, or the beginning of one with what closes after it, up to the next value.
    private mutating func takeValue() -> Bool {
        skipSpace()
        switch byte {
        case UInt8(ascii: "{"): return open(UInt8(ascii: "}"))
        case UInt8(ascii: "["): return open(UInt8(ascii: "]"))
        case UInt8(ascii: "\""): return takeString() && close()
        case UInt8(ascii: "t"): return take("true") && close()
        case UInt8(ascii: "f"): return take("false") && close()
        case UInt8(ascii: "n"): return take("null") && close()
        default: return takeNumber() && close()
        }
    }

    private mutating func open(_ closer: UInt8) -> Bool {
        offset += 1
        closers.append(closer)
        skipSpace()
        if byte == closer { return close() }
        return takeKey()
    }

    /// Takes a key and its colon, if an object is open.
    private mutating func takeKey() -> Bool {
        guard closers.last == UInt8(ascii: "}") else { return true }
        skipSpace()
        guard byte == UInt8(ascii: "\""), takeString() else { return false }
        skipSpace()
        return take(":")
    }

    /// Takes what follows a value: brackets that close, and a comma if any is still open.
    private mutating func close() -> Bool {
        while let closer = closers.last {
            skipSpace()
            if byte == UInt8(ascii: ",") {
                offset += 1
                return takeKey()
            }
            guard byte == closer else { return false }
            offset += 1
            closers.removeLast()
        }
        return true
    }

    private mutating func take(_ word: StaticString) -> Bool {
        for index in 0..<word.utf8CodeUnitCount {
            guard unsafe byte == word.utf8Start[index] else { return false }
            offset += 1
        }
        return true
    }

    private mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
    }

    private mutating func takeNumber() -> Bool {
        if byte == UInt8(ascii: "-") { offset += 1 }
        if byte == UInt8(ascii: "0") {
            offset += 1
        } else if !takeDigits() {
            return false
        }
        if byte == UInt8(ascii: ".") {
            offset += 1
            guard takeDigits() else { return false }
        }
        guard byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") else { return true }
        offset += 1
        if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { offset += 1 }
        return takeDigits()
    }

    private mutating func takeDigits() -> Bool {
        let start = offset
        while let byte, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { offset += 1 }
        return offset > start
    }

    private mutating func takeString() -> Bool {
        offset += 1
        while let byte, byte >= 0x20 {
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return true
            case UInt8(ascii: "\\"): guard takeEscape() else { return false }
            default: offset += 1
            }
        }
        return false
    }

    /// Takes an escape, or both of a surrogate pair. One that is alone is wrong from its beginning.
    private mutating func takeEscape() -> Bool {
        let start = offset
        offset += 1
        guard byte == UInt8(ascii: "u") else {
            guard let byte, "\"\\/bfnrt".utf8.contains(byte) else { return false }
            offset += 1
            return true
        }
        guard let unit = takeHexadecimal() else { return false }
        guard 0xD800...0xDFFF ~= unit else { return true }
        if unit < 0xDC00, byte == UInt8(ascii: "\\") {
            offset += 1
            if byte == UInt8(ascii: "u"), let low = takeHexadecimal(), 0xDC00...0xDFFF ~= low {
                return true
            }
        }
        offset = start
        return false
    }

    private static func digit(_ byte: UInt8) -> UInt16? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    /// Takes the `u` of an escape and its four digits.
    private mutating func takeHexadecimal() -> UInt16? {
        offset += 1
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte, let digit = Self.digit(byte) else { return nil }
            value = value << 4 | digit
            offset += 1
        }
        return value
    }
}
