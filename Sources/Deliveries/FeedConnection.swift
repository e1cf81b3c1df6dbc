public import NIOCore
public import PresenceGateway
public import PresenceWire

/// What reads the feed, or what is undelivered, for a delivery.
public protocol FeedConnection: Sendable {
    /// Where it begins.
    var start: FeedStart { get }
    /// The next item; nil if there is none within `time`.
    func next(within time: TimeAmount) async throws -> FeedItem?
    /// Ends it.
    func close()
}

extension FeedReader: FeedConnection {}
