import NIOCore
import PresenceGateway
import PresenceWire

/// What reads the feed for a webhook.
protocol FeedConnection: Sendable {
    /// Where it begins.
    var start: FeedStart { get }
    /// The next item; nil if there is none within `time`.
    func next(within time: TimeAmount) async throws -> FeedItem?
    func close()
}

extension FeedReader: FeedConnection {}
