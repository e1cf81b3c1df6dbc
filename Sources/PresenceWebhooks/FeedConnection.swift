import NIOCore
import PresenceGateway

/// A connection that reads the feed.
protocol FeedConnection: Sendable {
    /// Sends `feed`; returns the response.
    func openFeed(from cursor: String?) async throws -> FeedMessage
    /// The next notification; nil if none arrives within `time`.
    func message(within time: TimeAmount) async throws -> FeedMessage?
    func close()
}

/// Why the feed cannot be read.
enum FeedError: Error {
    /// The service rejected `feed`, with this error.
    case rejected(String)
    /// A message of the service could not be parsed.
    case malformed
}

extension GatewayConnection: FeedConnection {
    func openFeed(from cursor: String?) async throws -> FeedMessage {
        var params = JSONMembers()
        if let cursor { params.append("cursor", cursor) }
        switch try await call("feed", params.object, within: .seconds(10)) {
        case .result(let result):
            guard let answer = FeedMessage(result) else { throw FeedError.malformed }
            return answer
        case .error(let error):
            throw FeedError.rejected(String(buffer: error))
        }
    }

    func message(within time: TimeAmount) async throws -> FeedMessage? {
        guard let notification = try await notification(within: time) else { return nil }
        // `synced` of the login comes first and is ignored.
        guard notification.method == "feed" else { return try await message(within: time) }
        guard let message = FeedMessage(notification.params) else {
            throw FeedError.malformed
        }
        return message
    }
}
