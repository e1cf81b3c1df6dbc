import NIOCore
import PresenceGateway
import PresenceServer
import PresenceWire

extension API {
    /// The feed, as a stream.
    func feed(_ call: Call, _ head: RequestHead) async throws -> Response {
        // A client that reconnects by itself repeats the query, and says what it had last.
        let isAgain = head.fields.text(.lastEventID)?.isEmpty == false
        let beginning = isAgain ? nil : try call.query.one("from")
        return try await stream(call, head) {
            try await self.gateway.openFeed(after: $0, from: beginning)
        }
    }

    /// How long the changes are gathered for a reader that begins now: it shows them to a human,
    /// and each item costs a turn of two threads.
    private static var glance: TimeAmount { .milliseconds(200) }

    /// What no device has taken in time, as a stream.
    func undelivered(_ call: Call, _ head: RequestHead) async throws -> Response {
        try await stream(call, head) { try await self.gateway.openUndelivered(from: $0) }
    }

    /// A stream of events, until the client disconnects or the service shuts down.
    ///
    /// While the client does not read, nothing is read from the service. So a slow client costs no
    /// more than the events in flight, and in the end its stream is closed.
    private func stream(
        _ call: Call, _ head: RequestHead,
        _ open: (_ cursor: String?) async throws -> FeedReader
    ) async throws -> Response {
        let headers: ResponseFields = [.contentType: "text/event-stream"]
        guard head.method != .head else {
            return Response(status: .ok, headers: headers, body: .stream { _ in })
        }
        let cursor = try head.fields.text(.lastEventID) ?? call.query.one("cursor")
        let place = try FeedPlace(counters, max: limits.feedReadersMax)
        let reader = try await open(cursor?.isEmpty == true ? nil : cursor)
        let silence = TimeAmount.seconds(Int64(limits.feedHeartbeatSeconds))
        return Response(
            status: .ok, headers: headers,
            body: .stream { writer in
                defer { withExtendedLifetime(place) {} }
                try await writer.write(ServerSentEvent.beginning)
                switch reader.start {
                case .reset: try await writer.write(ServerSentEvent.event(.reset))
                case .now(let cursor): try await writer.write(ServerSentEvent.now(cursor))
                case .resumed: break
                }
                do {
                    while true {
                        let item = try await reader.next(within: silence)
                        try await writer.write(
                            item.map(ServerSentEvent.event) ?? ServerSentEvent.heartbeat)
                        if case .now = reader.start, item != nil { await reader.pause(Self.glance) }
                    }
                } catch let error as InProcessError where error != .cancelled {
                    // The service ends. The client reconnects by itself, with its last cursor.
                }
            })
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
