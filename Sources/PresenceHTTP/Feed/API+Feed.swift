import NIOCore
import PresenceGateway
import PresenceServer
import PresenceTokens
import PresenceWire

extension API {
    /// The feed, as a stream.
    func feed(_ call: Call) async throws -> Response {
        let beginning = try call.query.one("from")
        // A client that reconnects by itself repeats the query, and says what it had last.
        let isAgain = call.head.fields.text(.lastEventID)?.isEmpty == false
        let fromNow = beginning == "now"
        return try await stream(call, gathering: fromNow) {
            let reader = try await gateway.openFeed(after: $0, from: isAgain ? nil : beginning)
            // It keeps no table: if its position is lost, it continues from now.
            guard fromNow, isAgain, reader.start == .reset else { return reader }
            return try await gateway.openFeed(after: nil, from: beginning)
        }
    }

    /// How long the changes are gathered for a reader `from=now` that has all: it shows them to a
    /// human, and each item costs a turn of two threads.
    private static var glance: TimeAmount { .milliseconds(200) }

    /// What no device has taken in time, as a stream.
    func undelivered(_ call: Call) async throws -> Response {
        try await stream(call, gathering: false) {
            try await gateway.openUndelivered(from: $0)
        }
    }

    /// A stream of events, until the client disconnects or the service shuts down.
    ///
    /// While the client does not read, nothing is read from the service. So a slow client costs no
    /// more than the events in flight, and its stream is finally closed.
    private func stream(
        _ call: Call, gathering isGathering: Bool,
        _ open: (_ cursor: String?) async throws -> FeedReader
    ) async throws -> Response {
        let headers: ResponseFields = [.contentType: "text/event-stream"]
        guard call.head.method != .head else {
            return Response(status: .ok, headers: headers, body: .stream { _ in })
        }
        let cursor = try call.head.fields.text(.lastEventID) ?? call.query.one("cursor")
        let place = try FeedPlace(
            counters, max: limits.feedReadersMax, isReadOnly: call.key?.isReadOnly == true)
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
                        if isGathering, item?.hasAll == true { await reader.pause(Self.glance) }
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
    private let isReadOnly: Bool

    init(_ counters: HTTPCounters, max: Int, isReadOnly: Bool) throws(HTTPError) {
        guard counters.enterFeed(max: max, isReadOnly: isReadOnly) else {
            throw .tooManyFeedReaders
        }
        self.counters = counters
        self.isReadOnly = isReadOnly
    }

    deinit {
        counters.leaveFeed(isReadOnly: isReadOnly)
    }
}

extension FeedItem {
    /// Whether its reader has had all changes then.
    fileprivate var hasAll: Bool {
        if case .changes(let events, _) = self { events.areNewest } else { false }
    }
}
