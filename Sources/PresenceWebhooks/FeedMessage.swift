import NIOCore
import PresenceGateway

/// What a `feed` notification, or the answer to `feed`, says.
struct FeedMessage {
    /// Nothing that was known before counts any more.
    var isReset = false
    /// The events belong to the states with which a reader begins.
    var isSnapshot = false
    /// These are complete.
    var isSynced = false
    /// Where to go on, in the service's words.
    var cursor: String?
    /// The events with commas between them, as they came.
    var events = ByteBuffer()
    var count = 0
    /// When the first of them happened, in milliseconds since 1970.
    var firstTime: Int64?

    /// Nil: nothing that the service sends.
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

    /// An event begins so, and nothing else does: quotes in texts have a backslash before them.
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
