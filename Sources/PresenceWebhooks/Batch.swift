import NIOCore
import PresenceGateway

/// What is posted at once.
struct Batch {
    /// Events and their bytes that a batch has at most; a single notification always fits.
    static let eventsMax = 500
    static let bytesMax = 256 << 10

    /// The receiver is to forget what it has before it applies the events.
    var isReset = false
    /// The events belong to the states with which a reader begins.
    var isSnapshot = false
    /// These are complete with this batch.
    var isSynced = false
    /// Where the feed goes on behind this batch; nil within the states.
    var cursor: String?
    var events = ByteBuffer()
    var count = 0
    var firstTime: Int64?

    /// Whether there is anything to tell.
    var isWorthPosting: Bool { count > 0 || isSynced }

    /// The body; `id` is this batch's, and that of each repetition.
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

/// Puts what comes from the feed together to batches, each of one kind.
struct BatchBuilder {
    private var batch = Batch()

    /// Begins with the answer to `feed`.
    init(_ answer: FeedMessage) {
        if answer.isReset { reset() }
    }

    private mutating func reset() {
        batch = Batch(isReset: true, isSnapshot: true)
    }

    /// Whether a batch can be posted, if nothing more comes.
    var isWorthPosting: Bool { batch.isWorthPosting }

    /// Takes what has come; gives a batch that is complete with it, or without it.
    mutating func add(_ message: FeedMessage) -> Batch? {
        if message.isReset {
            // What has been put together may be told: it is true, and was before this.
            let before = batch
            reset()
            return before.isWorthPosting ? before : nil
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

    /// What has been put together.
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
