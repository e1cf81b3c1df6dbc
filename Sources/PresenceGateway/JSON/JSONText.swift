public import NIOCore

/// Parses and writes single JSON values.
public enum JSONText {
    /// The text of a JSON string value; nil for any other value.
    public static func string(_ value: ByteBuffer) -> String? {
        let bytes = value.readableBytesUInt8Span
        var at = 0
        do throws(JSONError) {
            let hasEscapes = try JSONScanner.skipString(bytes, &at)
            guard at == bytes.count else { return nil }
            var raw = value
            raw.moveReaderIndex(forwardBy: 1)
            raw.moveWriterIndex(to: raw.writerIndex - 1)
            return hasEscapes ? try unescaped(raw) : String(buffer: raw)
        } catch {
            return nil
        }
    }

    /// The value as an integer; nil if it is not a number, or has a fraction or an exponent.
    public static func integer(_ value: ByteBuffer) -> Int? {
        isInteger(value) ? Int(String(buffer: value)) : nil
    }

    /// Whether these bytes are a JSON integer, of any size.
    public static func isInteger(_ value: ByteBuffer) -> Bool {
        let bytes = value.readableBytesUInt8Span
        var at = 0
        if at < bytes.count, bytes[at] == UInt8(ascii: "-") { at += 1 }
        guard at < bytes.count else { return false }
        if bytes[at] == UInt8(ascii: "0") { return at + 1 == bytes.count }
        for place in at..<bytes.count
        where !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[place]) {
            return false
        }
        return true
    }

    /// A number with a zero fraction is returned without it, as JSON Schema defines integers; any
    /// other value unchanged.
    public static func withoutZeroFraction(_ value: ByteBuffer) -> ByteBuffer {
        guard let dot = value.readableBytesView.firstIndex(of: UInt8(ascii: ".")) else {
            return value
        }
        let fraction = value.readableBytesView[(dot + 1)...]
        guard !fraction.isEmpty, fraction.allSatisfy({ $0 == UInt8(ascii: "0") }) else {
            return value
        }
        let whole = value.getSlice(
            at: value.readerIndex, length: dot - value.readableBytesView.startIndex)
        guard let whole, isInteger(whole) else { return value }
        return whole
    }

    /// The content of a scanned string, between its quotes, without escapes.
    static func unescaped(_ raw: ByteBuffer) throws(JSONError) -> String {
        let bytes = raw.readableBytesUInt8Span
        var text: [UInt8] = []
        var at = 0
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard at < bytes.count else { throw .invalid }
            let escape = bytes[at]
            at += 1
            switch escape {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"): text.append(contentsOf: try scalar(bytes, &at).utf8)
            default: text.append(escape)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func scalar(_ bytes: Span<UInt8>, _ at: inout Int) throws(JSONError) -> String {
        var code = try JSONScanner.hexadecimal(bytes, &at)
        if code & 0xFC00 == 0xD800 {
            try JSONScanner.skip("\\u", bytes, &at)
            let low = try JSONScanner.hexadecimal(bytes, &at)
            code = 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF
        }
        guard let scalar = UnicodeScalar(code) else { throw .invalid }
        return String(Character(scalar))
    }
}

extension ByteBuffer {
    /// Appends a JSON string.
    public mutating func writeJSON(_ text: some StringProtocol) {
        writeInteger(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                writeInteger(UInt8(ascii: "\\"))
                writeInteger(byte)
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                writeStaticString("\\u00")
                writeInteger(digits[Int(byte >> 4)])
                writeInteger(digits[Int(byte & 15)])
            default:
                writeInteger(byte)
            }
        }
        writeInteger(UInt8(ascii: "\""))
    }
}

/// A JSON object that grows by members.
public struct JSONMembers: Sendable {
    private var text = ByteBuffer()

    /// An empty object.
    public init() {}

    /// The object so far.
    public var object: ByteBuffer {
        guard text.readableBytes > 0 else { return ByteBuffer(staticString: "{}") }
        var object = text
        object.writeStaticString("}")
        return object
    }

    /// Appends a member whose value is JSON.
    public mutating func append(_ name: String, json value: ByteBuffer) {
        begin(name)
        text.writeImmutableBuffer(value)
    }

    /// Appends a string.
    public mutating func append(_ name: String, _ value: some StringProtocol) {
        begin(name)
        text.writeJSON(value)
    }

    /// Appends strings.
    public mutating func append(_ name: String, _ values: [String]) {
        begin(name)
        text.writeStaticString("[")
        for (number, value) in values.enumerated() {
            if number > 0 { text.writeStaticString(",") }
            text.writeJSON(value)
        }
        text.writeStaticString("]")
    }

    /// Appends a number.
    public mutating func append(_ name: String, _ value: Int) {
        begin(name)
        text.writeString(String(value))
    }

    private mutating func begin(_ name: String) {
        text.writeStaticString(text.readableBytes == 0 ? "{" : ",")
        text.writeJSON(name)
        text.writeStaticString(":")
    }
}
