import NIOCore
import PresenceGateway

/// The content of one POST.
struct Batch {
    /// The most events and bytes in a batch; a single notification always fits.
    static let eventsMax = 500
    static let bytesMax = 256 << 10

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
        object.append("events", json: list)
        return object.object
    }
}

/// Combines notifications of the feed to batches; a batch has events of one kind.
struct BatchBuilder {
    private var batch = Batch()

    /// Begins with the response to `feed`.
    init(_ answer: FeedMessage) {
        if answer.isReset { reset() }
    }

    private mutating func reset() {
        batch = Batch(isReset: true, isSnapshot: true)
    }

    /// Whether a batch can be posted now.
    var hasContent: Bool { batch.hasContent }

    /// Adds a notification; returns a batch that is complete, with or without it.
    mutating func add(_ message: FeedMessage) -> Batch? {
        if message.isReset {
            // The batch so far may be posted: its events happened before the reset.
            let before = batch
            reset()
            return before.hasContent ? before : nil
        }
        let isOther = message.isSnapshot != batch.isSnapshot && !message.isSynced
        let isTooMuch =
            batch.count + message.count > Batch.eventsMax
            || batch.events.readableBytes + message.events.readableBytes > Batch.bytesMax
        if batch.count > 0, isOther || isTooMuch {
            let complete = take()
            append(message)
            return complete
        }
        append(message)
        return message.isSynced ? take() : nil
    }

    /// The batch so far.
    mutating func take() -> Batch {
        let complete = batch
        batch = Batch(isSnapshot: complete.isSnapshot && !complete.isSynced)
        return complete
    }

    private mutating func append(_ message: FeedMessage) {
        if batch.count > 0, message.count > 0 { batch.events.writeStaticString(",") }
        if message.count > 0 { batch.isSnapshot = message.isSnapshot }
        batch.events.writeImmutableBuffer(message.events)
        batch.count += message.count
        batch.firstTime = batch.firstTime ?? message.firstTime
        batch.isSynced = batch.isSynced || message.isSynced
        batch.cursor = message.cursor ?? batch.cursor
    }
}
