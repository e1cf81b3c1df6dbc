import NIOCore
import PresenceGateway

/// The source of one stream of events: a connection to the service that reads the feed. It is
/// closed with the last reference.
final class FeedStream: Sendable {
    private let connection: GatewayConnection
    private let counters: HTTPCounters
    /// The response to `feed`: whether the feed continues after the cursor, or is reset.
    let answer: ByteBuffer

    private init(
        _ connection: GatewayConnection, _ answer: ByteBuffer, counters: HTTPCounters
    ) {
        self.connection = connection
        self.answer = answer
        self.counters = counters
    }

    deinit {
        connection.close()
        counters.leaveFeed()
    }

    /// Begins to read after `cursor`, or with a snapshot.
    static func begin(
        behind cursor: String?, on gateway: Gateway, max: Int, _ counters: HTTPCounters
    ) async throws -> FeedStream {
        guard counters.enterFeed(max: max) else { throw HTTPError.tooManyFeedReaders }
        var entered: FeedStream?
        defer { if entered == nil { counters.leaveFeed() } }
        let connection = try await gateway.openLongLived()
        do {
            var params = JSONMembers()
            if let cursor { params.append("cursor", cursor) }
            let answer = try API.result(
                of: await connection.call("feed", params.object, within: .seconds(10)))
            let reader = FeedStream(connection, answer, counters: counters)
            entered = reader
            return reader
        } catch {
            connection.close()
            throw error
        }
    }

    /// Closes the connection; a pending `next` throws.
    func end() {
        connection.close()
    }

    /// The `params` of the next `feed` notification; nil if none arrives within `time`.
    func next(within time: TimeAmount) async throws -> ByteBuffer? {
        while let notification = try await connection.notification(within: time) {
            if notification.method == "feed" { return notification.params }
        }
        return nil
    }
}
