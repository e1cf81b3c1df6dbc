import NIOCore
import PresenceCore
import PresenceGateway
import PresenceWire

/// The content of one POST.
struct Batch {
    /// The most events and bytes in a batch; a single item always fits.
    static let eventsMax = 500
    static let bytesMax = 256 << 10

    /// What the events are, as the name of their list.
    var stream = WebhookStream.events
    /// The receiver must discard its table before it applies the events.
    var isReset = false
    /// The events belong to a snapshot.
    var isSnapshot = false
    /// The snapshot is complete with this batch.
    var isSynced = false
    /// The position after this batch; nil within a snapshot.
    var cursor: String?
    var events = ByteBuffer()
    var count = 0
    var firstTime: Int64?

    /// Whether there is anything to post.
    var hasContent: Bool { count > 0 || isSynced }

    /// The body. `id` is the same for every attempt.
    func body(id: String) -> ByteBuffer {
        var list = ByteBuffer(staticString: "[")
        list.writeImmutableBuffer(events)
        list.writeStaticString("]")
        let yes = ByteBuffer(staticString: "true")
        var object = JSONMembers()
        object.append("id", id)
        if isReset { object.append("reset", json: yes) }
        if isSnapshot { object.append("snapshot", json: yes) }
        if isSynced { object.append("synced", json: yes) }
        if let cursor { object.append("cursor", cursor) }
        object.append(stream.rawValue, json: list)
        return object.object
    }
}

/// Combines items of the feed to batches; a batch has events of one kind.
struct BatchBuilder {
    private var batch = Batch()

    /// Begins where the reader begins.
    init(_ start: FeedStart) {
        if case .reset = start { reset() }
    }

    private mutating func reset() {
        batch = Batch(isReset: true, isSnapshot: true)
    }

    /// Whether a batch can be posted now.
    var hasContent: Bool { batch.hasContent }

    /// Adds an item; returns a batch that is complete, with or without it.
    mutating func add(_ item: FeedItem) -> Batch? {
        switch item {
        case .reset:
            // The batch so far may be posted: its events happened before the reset.
            let before = batch
            reset()
            return before.hasContent ? before : nil
        case .changes(let events, let cursor):
            let complete = add(events, isSnapshot: false)
            batch.cursor = cursor.text
            return complete
        case .states(let events):
            return add(events, isSnapshot: true)
        case .synced(let cursor):
            batch.isSynced = true
            batch.cursor = cursor.text
            return take()
        case .undelivered(let messages, let cursor):
            let complete = add(messages, isSnapshot: false)
            batch.stream = .undelivered
            batch.cursor = cursor.text
            return complete
        }
    }

    /// Adds events, after completing the batch if they do not belong to it or do not fit.
    private mutating func add(_ events: FeedEvents, isSnapshot: Bool) -> Batch? {
        let isTooMuch =
            batch.count + events.count > Batch.eventsMax
            || batch.events.readableBytes + events.bytes.count > Batch.bytesMax
        let isOther = isSnapshot != batch.isSnapshot
        let complete = batch.count > 0 && (isOther || isTooMuch) ? take() : nil
        if batch.count > 0 { batch.events.writeStaticString(",") }
        batch.isSnapshot = isSnapshot
        batch.events.writeBytes(events.bytes)
        batch.count += events.count
        batch.firstTime = batch.firstTime ?? events.firstTime.milliseconds
        return complete
    }

    /// The batch so far.
    mutating func take() -> Batch {
        let complete = batch
        batch = Batch(isSnapshot: complete.isSnapshot && !complete.isSynced)
        return complete
    }
}
