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

    /// Throws why not.
    func check(_ gateway: Gateway) async throws {
        let now = NIODeadline.now()
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
        let problem = await ask(gateway)
        state.withLock {
            $0 = State(verdict: Verdict(since: now, problem: problem), isAsking: false)
        }
        if let problem { throw problem }
    }

    private func ask(_ gateway: Gateway) async -> Problem? {
        do {
            let stats = try JSONObject(API.result(of: await gateway.call("stats")))
            guard stats["storeRetained"].flatMap(JSONText.integer) == 0 else {
                return Problem(
                    .serviceUnavailable, "store_unavailable",
                    "The database does not accept writes."
                ).with(.retryAfter, "1")
            }
            return nil
        } catch {
            return Problem(error)
        }
    }
}
