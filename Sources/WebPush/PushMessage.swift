import FoundationEssentials
import PresenceCore
public import PresenceWire

/// An entry of `undelivered`, as far as it is used.
public struct PushMessage: Sendable {
    /// A device of the recipient.
    public struct Device: Sendable {
        /// Its name.
        public var device: String
        /// As it has left it.
        public var pushAddress: String?
    }

    /// The message's id.
    public var message: String
    /// Its recipient.
    public var account: String
    /// Its sender; nil: the service.
    public var from: String?
    /// Its text, as far as app servers are sent it.
    public var body: String?
    /// The same for the app.
    public var ext: String?
    /// When it was sent, in milliseconds since 1970.
    public var time: Int64
    /// Until when it waits.
    public var expires: Int64
    /// How many messages wait for the account; of one for a device alone, for that device.
    public var waiting: Int
    /// Whether `body` or `ext` was longer.
    public var isCut: Bool
    /// Where it may be pushed to.
    public var devices: [Device]

    /// What is used of an entry.
    public init(_ entry: UndeliveredEntry) {
        message = String(decoding: entry.message.id.text, as: UTF8.self)
        account = String(decoding: entry.account, as: UTF8.self)
        from = Self.text(entry.message.from)
        body = Self.text(entry.message.body)
        ext = Self.text(entry.message.ext)
        time = entry.message.time.milliseconds
        expires = entry.expires.milliseconds
        waiting = entry.waiting
        isCut = entry.isCut
        devices = entry.devices.map { device in
            Device(
                device: String(decoding: device.name, as: UTF8.self),
                pushAddress: Self.text(device.labels.pushAddress))
        }
    }

    /// Nil: it is empty.
    private static func text(_ bytes: [UInt8]) -> String? {
        bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// What the browser is given: JSON of at most 3,993 bytes. If it would have more, `ext` is left
    /// out, and then the end of `body`.
    public func plaintext() throws -> [UInt8] {
        var content = Content(
            account: account, body: body, cut: isCut ? true : nil, ext: ext, from: from,
            message: message,
            time: time, waiting: waiting)
        var text = try content.json()
        guard text.count > PushEncryption.plaintextBytesMax else { return text }
        (content.ext, content.cut) = (nil, true)
        text = try content.json()
        let excess = text.count - PushEncryption.plaintextBytesMax
        guard excess > 0, let body else { return text }
        content.body = ""
        let room = PushEncryption.plaintextBytesMax - (try content.json().count)
        content.body = Self.prefix(of: body, jsonBytesMax: room)
        return try content.json()
    }

    /// The first characters of a text, as far as JSON has room for them.
    private static func prefix(of text: String, jsonBytesMax: Int) -> String {
        var room = jsonBytesMax
        let scalars = text.unicodeScalars.prefix { scalar in
            room -= jsonByteCount(of: scalar)
            return room >= 0
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private static func jsonByteCount(of scalar: Unicode.Scalar) -> Int {
        switch scalar {
        case "\"", "\\", "\n", "\r", "\t", "\u{8}", "\u{C}": 2
        case "\u{0}"..<" ": 6
        default: UTF8.width(scalar)
        }
    }

    private struct Content: Encodable {
        var account: String
        var body: String?
        var cut: Bool?
        var ext: String?
        var from: String?
        var message: String
        var time: Int64
        var waiting: Int

        func json() throws -> [UInt8] {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return [UInt8](try encoder.encode(self))
        }
    }
}
