import NIOCore
import PresenceServer
import PresenceWire
import Synchronization
import Testing

@testable import PresenceHTTP

@Suite final class `The readiness` {
    private let readiness = Readiness()
    private let asked = Mutex(0)

    private func at(_ milliseconds: Int64) -> NIODeadline {
        .uptimeNanoseconds(1_000_000_000) + .milliseconds(milliseconds)
    }

    private func check(at milliseconds: Int64, _ error: HTTPError? = nil) async -> Bool {
        do {
            try await readiness.check(at: at(milliseconds)) {
                asked.withLock { $0 += 1 }
                return error
            }
            return true
        } catch {
            return false
        }
    }

    @Test func `is asked for once a second`() async {
        let error = HTTPError(.serviceUnavailable, "store_unavailable", "It is not.")
        #expect(await check(at: 0, error) == false)
        #expect(await check(at: 999) == false)
        #expect(asked.withLock { $0 } == 1)
        #expect(await check(at: 1_000) == true)
        #expect(await check(at: 1_999, error) == true)
        #expect(asked.withLock { $0 } == 2)
    }

    @Test func `needs a database that accepts writes`() {
        let written = readiness.failure(in: [StatsField("storeRetained", 0)], at: at(0))
        #expect(written == nil)
        let kept = readiness.failure(in: [StatsField("storeRetained", 1)], at: at(0))
        #expect(kept?.status == .serviceUnavailable && kept?.reason == "store_unavailable")
        // Not to be known is no sign of health.
        #expect(readiness.failure(in: [], at: at(0)) != nil)
    }

    @Test func `ends when the service does not respond for two seconds`() async throws {
        #expect(await check(at: 0) == true)
        try await readiness.check(at: at(1_000)) {
            #expect(await check(at: 2_999) == true)
            #expect(await check(at: 3_000) == false)
            return nil
        }
        #expect(await check(at: 3_001) == true)
    }

    /// A disk that is full may accept small writes between larger ones that fail.
    @Test func `ends for ten seconds when a write has failed`() {
        func isReady(_ failures: Int, at milliseconds: Int64) -> Bool {
            let stats = [
                StatsField("storeRetained", 0), StatsField("storeFailures", failures),
            ]
            return readiness.failure(in: stats, at: at(milliseconds)) == nil
        }
        // Those before the first question may be old.
        #expect(isReady(3, at: 0))
        #expect(!isReady(4, at: 1_000))
        #expect(!isReady(4, at: 10_999))
        #expect(isReady(4, at: 11_000))
        #expect(!isReady(5, at: 12_000))
    }

    @Test func `tells a startup from a shutdown`() async {
        func failure(at milliseconds: Int64, _ error: InProcessError) async -> HTTPError? {
            do {
                try await readiness.check(at: at(milliseconds)) { throw error }
                return nil
            } catch {
                return error as? HTTPError
            }
        }
        let atStartup = await failure(at: 0, .starting)
        #expect(atStartup?.reason == "starting_up")
        #expect(atStartup?.status == .serviceUnavailable)
        #expect(HTTPError.title(of: atStartup?.reason ?? "") == "Starting up")
        #expect(await failure(at: 1_000, .ended)?.reason == "shutting_down")
    }

    @Test func `ignores a check whose client has disconnected`() async {
        await #expect(throws: InProcessError.cancelled) {
            try await readiness.check(at: at(0)) { throw InProcessError.cancelled }
        }
        #expect(await check(at: 1) == true)
        await #expect(throws: InProcessError.cancelled) {
            try await readiness.check(at: at(2_000)) { throw InProcessError.cancelled }
        }
        // Nor does it keep others from asking.
        #expect(await check(at: 2_001) == true)
        #expect(asked.withLock { $0 } == 2)
    }
}
