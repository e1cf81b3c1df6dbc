import HTTPTypes
import HummingbirdCore
import NIOCore
import PresenceGateway

extension API {
    /// A stream of events, until the client disconnects or the service shuts down.
    ///
    /// While the client does not read, nothing is read from the service. So a slow client costs no
    /// more than the events in flight, and in the end its stream is closed.
    func feed(
        _ call: Call, _ request: Request, over channel: any Channel
    ) async throws -> Response {
        let headers: HTTPFields = [.contentType: "text/event-stream"]
        guard request.method != .head else { return Response(status: .ok, headers: headers) }
        let header = request.headers[Self.lastEventID]
        let cursor = try header ?? call.query.one("cursor")
        let reader = try await FeedStream.begin(
            behind: cursor?.isEmpty == true ? nil : cursor, on: gateway,
            max: limits.feedReadersMax, counters)
        channel.closeFuture.whenComplete { [weak reader] _ in reader?.end() }
        let silence = TimeAmount.seconds(Int64(limits.feedHeartbeatSeconds))
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { writer in
                try await writer.write(ServerSentEvent.beginning)
                if let first = ServerSentEvent.first(reader.answer) {
                    try await writer.write(first)
                }
                do {
                    while true {
                        guard let params = try await reader.next(within: silence) else {
                            try await writer.write(ServerSentEvent.heartbeat)
                            continue
                        }
                        if let event = ServerSentEvent.event(params) {
                            try await writer.write(event)
                        }
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
