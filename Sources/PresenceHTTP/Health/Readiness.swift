import NIOCore
import PresenceGateway
import PresenceServer
import PresenceWire
import Synchronization

/// Whether the service is ready: all its loops respond, and its database accepts writes.
///
/// Any client may ask without a key. The service counts all its connections for `stats`, so it is
/// asked once a second at most, and other requests get the latest result.
final class Readiness: Sendable {
    private struct Check: Sendable {
        var time: NIODeadline
        /// Why the service is not ready; nil if it is.
        var failure: HTTPError?
    }

    private struct State {
        var latest: Check?
        /// Since when the service is being asked.
        var askedSince: NIODeadline?
        var writes = WriteFailures()
    }

    private let state = Mutex(State())

    /// A service that has not responded for this time is not ready.
    private static let patience = TimeAmount.seconds(2)

    /// Throws if the service is not ready.
    func check(_ gateway: Gateway) async throws {
        let now = NIODeadline.now()
        try await check(at: now) { failure(in: try await gateway.stats(), at: now) }
    }

    /// The same, for a service that `ask` asks.
    func check(at now: NIODeadline, _ ask: () async throws -> HTTPError?) async throws {
        let known = state.withLock { state -> Check? in
            if let since = state.askedSince, now - since >= Self.patience {
                return Check(time: now, failure: .notResponding)
            }
            if let latest = state.latest,
                state.askedSince != nil || now - latest.time < .seconds(1)
            {
                return latest
            }
            state.askedSince = now
            return nil
        }
        if let known {
            if let failure = known.failure { throw failure }
            return
        }
        let failure: HTTPError?
        do {
            failure = try await ask()
        } catch InProcessError.cancelled {
            // The client has disconnected. That says nothing about the service.
            state.withLock { $0.askedSince = nil }
            throw InProcessError.cancelled
        } catch {
            failure = HTTPError(error)
        }
        state.withLock {
            $0.latest = Check(time: now, failure: failure)
            $0.askedSince = nil
        }
        if let failure { throw failure }
    }

    /// Why a service with these counters is not ready at this time.
    func failure(in stats: [StatsField], at now: NIODeadline) -> HTTPError? {
        func value(_ name: String) -> Int? { stats.first { $0.name == name }?.value }
        let failures = value("storeFailures") ?? 0
        let isFailing = state.withLock { $0.writes.areRecent(count: failures, at: now) }
        guard value("storeRetained") == 0, !isFailing else {
            return HTTPError(
                .serviceUnavailable, "store_unavailable",
                "The database does not accept writes."
            ).with(.retryAfter, "1")
        }
        return nil
    }
}

/// Whether writes to the database have failed of late. A disk that is full may accept small writes
/// between larger ones that fail.
struct WriteFailures {
    /// How long a failure counts.
    static let lifetime = TimeAmount.seconds(10)

    private var count: Int?
    private var last: NIODeadline?

    /// Notes how many have failed since the start, and returns whether some did recently.
    mutating func areRecent(count: Int, at now: NIODeadline) -> Bool {
        if let before = self.count, count > before { last = now }
        self.count = count
        return last.map { now - $0 < Self.lifetime } ?? false
    }
}
