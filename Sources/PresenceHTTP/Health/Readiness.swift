import HTTPTypes
import NIOCore
import PresenceGateway
import Synchronization

/// Whether the service can do its work: it answers, and its database takes what it is given.
///
/// Everybody may ask, and the service counts all its connections for `stats`; so it is asked
/// once a second at most, and others hear what the last one was told.
final class Readiness: Sendable {
    private struct Verdict: Sendable {
        var since: NIODeadline
        var problem: Problem?
    }

    private struct State {
        var verdict: Verdict?
        var isAsking = false
    }

    private let state = Mutex(State())

    /// Throws the problem, if there is one.
    func check(_ gateway: Gateway) async throws {
        try await check(at: .now()) { try await Self.ask(gateway) }
    }

    /// The same, of a service that `ask` asks.
    func check(at now: NIODeadline, _ ask: () async throws -> Problem?) async throws {
        let known = state.withLock { state -> Verdict? in
            if let verdict = state.verdict, state.isAsking || now - verdict.since < .seconds(1) {
                return verdict
            }
            state.isAsking = true
            return nil
        }
        if let known {
            if let problem = known.problem { throw problem }
            return
        }
        let problem: Problem?
        do {
            problem = try await ask()
        } catch is CancellationError {
            // The client has gone. That says nothing about the service.
            state.withLock { $0.isAsking = false }
            throw CancellationError()
        } catch {
            problem = Problem(error)
        }
        state.withLock {
            $0 = State(verdict: Verdict(since: now, problem: problem), isAsking: false)
        }
        if let problem { throw problem }
    }

    private static func ask(_ gateway: Gateway) async throws -> Problem? {
        let stats = try JSONObject(API.result(of: await gateway.call("stats")))
        guard stats["storeRetained"].flatMap(JSONText.integer) == 0 else {
            return Problem(
                .serviceUnavailable, "store_unavailable",
                "The database does not accept writes."
            ).with(.retryAfter, "1")
        }
        return nil
    }
}
