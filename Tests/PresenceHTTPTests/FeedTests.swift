import NIOCore
import PresenceCore
import PresenceWire
import Testing

@testable import PresenceHTTP

/// The items of the feed as server-sent events.
@Suite struct `A server-sent event` {
    private let cursor = FeedCursor(epoch: 1, seq: 2)
    private let events = FeedEvents(
        bytes: Array(#"{"a":1},{"a":2}"#.utf8), count: 2, firstTime: Wall(milliseconds: 3))

    private func event(_ item: FeedItem) -> String { String(buffer: ServerSentEvent.event(item)) }

    @Test func `has the cursor as its id`() {
        let params = #"{"events":[{"a":1},{"a":2}],"cursor":"\#(cursor.text)"}"#
        let expected = "event: change\nid: \(cursor.text)\ndata: \(params)\n\n"
        #expect(event(.changes(events, cursor)) == expected)
    }

    @Test func `has no id during a snapshot`() {
        let params = #"{"events":[{"a":1},{"a":2}],"snapshot":true}"#
        #expect(event(.states(events)) == "event: state\ndata: \(params)\n\n")
    }

    @Test func `clears the id at a reset`() {
        #expect(event(.reset) == "event: reset\nid: \ndata: {}\n\n")
    }

    @Test func `says that the snapshot is complete`() {
        let params = #"{"synced":true,"cursor":"\#(cursor.text)"}"#
        #expect(
            event(.synced(cursor)) == "event: synced\nid: \(cursor.text)\ndata: \(params)\n\n")
    }
}
