public import NIOCore

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
    private var text = ByteBuffer(staticString: "{")

    /// An empty object.
    public init() {}

    /// The object so far.
    public var object: ByteBuffer {
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

    /// Appends a number.
    public mutating func append(_ name: String, _ value: Int) {
        begin(name)
        text.writeString(String(value))
    }

    /// Appends members that are JSON, each with a comma before it, to an object that is not empty.
    public mutating func append(members: some Sequence<UInt8>) {
        precondition(text.readableBytes > 1, "members after a comma, and none before it")
        text.writeBytes(members)
    }

    private mutating func begin(_ name: String) {
        if text.readableBytes > 1 { text.writeStaticString(",") }
        text.writeJSON(name)
        text.writeStaticString(":")
    }
}
