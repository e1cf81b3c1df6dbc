import PresenceGateway
import Synchronization

/// Whether the service is still starting up: the API listens before the database is loaded.
final class Startup: Sendable {
    private let hasEnded = Atomic(false)

    /// The service has accepted a connection.
    func end() { hasEnded.store(true, ordering: .relaxed) }

    /// The error for a request that has no response from the service.
    func httpError(_ error: any Error) -> HTTPError {
        // A connection that was never accepted says nothing about a shutdown.
        guard case GatewayError.ended = error, !hasEnded.load(ordering: .relaxed) else {
            return HTTPError(error)
        }
        return .startingUp
    }
}
