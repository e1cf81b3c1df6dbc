import HTTPTypes
import HummingbirdCore
import NIOCore
import PresenceGateway
import PresenceWire

extension API {
    /// A stream of events, until the client disconnects or the service shuts down.
    ///
    /// While the client does not read, nothing is read from the service. So a slow client costs no
    /// more than the events in flight, and in the end its stream is closed.
    func feed(
        _ call: Call, _ request: HummingbirdCore.Request, over channel: any Channel
    ) async throws -> Response {
        let headers: HTTPFields = [.contentType: "text/event-stream"]
        guard request.method != .head else { return Response(status: .ok, headers: headers) }
        let header = request.headers[Self.lastEventID]
        let cursor = try header ?? call.query.one("cursor")
        let place = try FeedPlace(counters, max: limits.feedReadersMax)
        let reader = try await gateway.openFeed(from: cursor?.isEmpty == true ? nil : cursor)
        channel.closeFuture.whenComplete { [weak reader] _ in reader?.close() }
        let silence = TimeAmount.seconds(Int64(limits.feedHeartbeatSeconds))
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                defer { withExtendedLifetime(place) {} }
                try await writer.write(ServerSentEvent.beginning)
                if case .reset = reader.start {
                    try await writer.write(ServerSentEvent.event(.reset))
                }
                do {
                    while true {
                        let item = try await reader.next(within: silence)
                        try await writer.write(
                            item.map(ServerSentEvent.event) ?? ServerSentEvent.heartbeat)
                    }
                } catch is GatewayError {
                    // The client reconnects by itself, with its last cursor.
                    try await writer.finish(nil)
                }
            })
    }

    private static var lastEventID: HTTPField.Name {
        HTTPField.Name("Last-Event-ID") ?? .eTag
    }
}

/// The place of one stream among all that there may be, until its last reference goes.
private final class FeedPlace: Sendable {
    private let counters: HTTPCounters

    init(_ counters: HTTPCounters, max: Int) throws(HTTPError) {
        guard counters.enterFeed(max: max) else { throw .tooManyFeedReaders }
        self.counters = counters
    }

    deinit {
        counters.leaveFeed()
    }
}
