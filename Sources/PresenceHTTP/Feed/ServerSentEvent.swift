import NIOCore
import PresenceWire

/// The feed as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
///
/// An event is one item of the feed, or of what is undelivered, in the form of the native
/// protocol's notification. Its `id` is the cursor, which clients send back when they reconnect.
/// During a snapshot there is no cursor; the `id` is then set to empty, so that a client that
/// reconnects is reset.
enum ServerSentEvent {
    /// The begin of a stream: how long a client waits before it reconnects.
    static let beginning = ByteBuffer(staticString: "retry: 2000\n\n")
    /// Keeps proxies and clients from taking a silent stream for a dead one.
    static let heartbeat = ByteBuffer(staticString: ":\n\n")

    /// Says where a stream begins that begins now, so that a client that reconnects before the
    /// first change misses none.
    static func now(_ cursor: FeedCursor) -> ByteBuffer {
        event("now", id: cursor.text, data: Array(#"{"cursor":"\#(cursor.text)"}"#.utf8))
    }

    /// The event for an item.
    static func event(_ item: FeedItem) -> ByteBuffer {
        switch item {
        case .reset: event("reset", id: "", data: Array("{}".utf8))
        case .changes(_, let cursor): event("change", id: cursor.text, data: item.params)
        case .states: event("state", id: nil, data: item.params)
        case .synced(let cursor): event("synced", id: cursor.text, data: item.params)
        case .undelivered(_, let cursor):
            event("undelivered", id: cursor.text, data: item.params)
        }
    }

    private static func event(_ name: String, id: String?, data: [UInt8]) -> ByteBuffer {
        var event = ByteBuffer()
        event.reserveCapacity(64 + data.count)
        event.writeString("event: \(name)\n")
        if let id { event.writeString("id: \(id)\n") }
        event.writeStaticString("data: ")
        event.writeBytes(data)
        event.writeStaticString("\n\n")
        return event
    }
}
