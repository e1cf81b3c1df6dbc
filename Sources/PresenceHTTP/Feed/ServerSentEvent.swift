import NIOCore
import PresenceGateway

/// The feed as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
///
/// An event is one `feed` notification of the service. Its `id` is the cursor, which clients send
/// back when they reconnect. During a snapshot there is no cursor; the `id` is then set to empty,
/// so that a client that reconnects is reset.
enum ServerSentEvent {
    /// The begin of a stream: how long a client waits before it reconnects.
    static let beginning = ByteBuffer(staticString: "retry: 2000\n\n")
    /// Keeps proxies and clients from taking a silent stream for a dead one.
    static let heartbeat = ByteBuffer(staticString: ":\n\n")

    /// The event for the response to `feed`; nil if the stream continues after the cursor.
    static func first(_ answer: ByteBuffer) -> ByteBuffer? {
        guard let object = try? JSONObject(answer), says("reset", object) else { return nil }
        return reset
    }

    /// The event for a `feed` notification; nil for one of an unknown kind.
    static func event(_ params: ByteBuffer) -> ByteBuffer? {
        if let events = Wrapped(params) {
            return event(events.cursor == nil ? "state" : "change", id: events.cursor, data: params)
        }
        guard let object = try? JSONObject(params) else { return nil }
        if says("reset", object) { return reset }
        guard says("synced", object) else { return nil }
        return event("synced", id: object["cursor"].flatMap(JSONText.string), data: params)
    }

    /// `params` with events. They may be long, so only the end is parsed.
    private struct Wrapped {
        var cursor: String?

        init?(_ params: ByteBuffer) {
            let begin = "{\"events\":["
            let snapshot = "],\"snapshot\":true}"
            guard params.getString(at: params.readerIndex, length: begin.utf8.count) == begin
            else { return nil }
            let tailLength = min(params.readableBytes, 96)
            guard
                let tail = params.getString(
                    at: params.writerIndex - tailLength, length: tailLength)
            else { return nil }
            if tail.hasSuffix(snapshot) { return }
            guard tail.hasSuffix("\"}"), let mark = tail.firstRange(of: "],\"cursor\":\"") else {
                return nil
            }
            cursor = String(tail[mark.upperBound...].dropLast(2))
        }
    }

    private static var reset: ByteBuffer {
        event("reset", id: "", data: ByteBuffer(staticString: "{}"))
    }

    private static func says(_ member: String, _ object: JSONObject) -> Bool {
        object[member] == ByteBuffer(staticString: "true")
    }

    private static func event(_ name: String, id: String?, data: ByteBuffer) -> ByteBuffer {
        var event = ByteBuffer()
        event.reserveCapacity(64 + data.readableBytes)
        event.writeString("event: \(name)\n")
        if let id { event.writeString("id: \(id)\n") }
        event.writeStaticString("data: ")
        event.writeImmutableBuffer(data)
        event.writeStaticString("\n\n")
        return event
    }
}
