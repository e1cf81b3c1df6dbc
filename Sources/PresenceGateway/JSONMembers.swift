public import NIOCore
import PresenceWire

extension ByteBuffer {
    /// Appends a JSON string.
    public mutating func writeJSON(_ text: some StringProtocol) {
        var string: [UInt8] = []
        string.appendString(Array(text.utf8).span)
        writeBytes(string)
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
