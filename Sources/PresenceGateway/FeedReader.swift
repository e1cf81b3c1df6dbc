public import NIOCore
public import PresenceServer
public import PresenceWire

/// A reader of the feed. It ends with the last reference.
///
/// The service sends it one share at a time, when its consumer asks for the next item. So a slow
/// consumer uses no memory. If the feed no longer retains its position, the reader is reset.
public final class FeedReader: Sendable {
    /// Where it begins.
    public let start: FeedStart
    private let id: InProcessClient.ID
    private let gateway: Gateway

    init(_ start: FeedStart, id: InProcessClient.ID, of gateway: Gateway) {
        self.start = start
        self.id = id
        self.gateway = gateway
    }

    deinit {
        close()
    }

    /// The next item; nil if there is none within `time`. For one consumer at a time. If that is
    /// cancelled, the reader ends.
    public func next(within time: TimeAmount) async throws(InProcessError) -> FeedItem? {
        try await gateway.next(of: id, within: time)
    }

    /// Asks for nothing for `time`, so that what happens meanwhile comes as one item.
    public func pause(_ time: TimeAmount) async { await gateway.pause(time) }

    /// Ends it; what waits for an item throws.
    public func close() {
        gateway.close(id)
    }
}
