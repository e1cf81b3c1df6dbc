import NIOCore
import PresenceGateway

/// The content of a `feed` notification, or of the response to `feed`.
struct FeedMessage {
    /// Earlier events and states are void.
    var isReset = false
    /// The events belong to a snapshot.
    var isSnapshot = false
    /// The snapshot is complete.
    var isSynced = false
    /// The position after the message; opaque.
    var cursor: String?
    /// The events with commas between them, unchanged.
    var events = ByteBuffer()
    var count = 0
    /// When the first event happened, in milliseconds since 1970.
    var firstTime: Int64?

    /// Nil if the service does not send such a message.
    init?(_ params: ByteBuffer) {
        guard let object = try? JSONObject(params) else { return nil }
        isReset = object["reset"].map { String(buffer: $0) } == "true"
        isSnapshot = object["snapshot"] != nil
        isSynced = object["synced"] != nil
        cursor = object["cursor"].flatMap(JSONText.string)
        guard let list = object["events"] else { return }
        let bytes = list.readableBytesView
        guard bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]"),
            let inner = list.getSlice(at: list.readerIndex + 1, length: bytes.count - 2)
        else { return nil }
        events = inner
        count = Self.eventCount(inner)
        firstTime = Self.firstTime(inner)
    }

    /// Only an event begins like this: quotes inside strings are escaped.
    private static func eventCount(_ events: ByteBuffer) -> Int {
        var count = 0
        var rest = events.readableBytesView[...]
        while let place = rest.firstRange(of: Array("{\"type\":".utf8)) {
            count += 1
            rest = rest[place.upperBound...]
        }
        return count
    }

    private static func firstTime(_ events: ByteBuffer) -> Int64? {
        let bytes = events.readableBytesView
        guard let place = bytes.firstRange(of: Array(",\"time\":".utf8)) else { return nil }
        let digits = bytes[place.upperBound...].prefix { 0x30...0x39 ~= $0 }
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}
