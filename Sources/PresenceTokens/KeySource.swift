// Where keys come from. The keys at a URL are fetched at startup, every ten minutes, and when a
// token names an unknown key. Any client may send tokens with any `kid`, so an unknown key causes a
// fetch every ten seconds at most. Tokens that arrive during a fetch wait for it.
//
// While the URL does not respond, the current keys stay valid. A token with an unknown key can then
// not be verified: the client is asked to retry (503), and the token is not called invalid (401).

public import Logging
import NIOCore
public import OutgoingHTTP
import Synchronization
import TaskLoops

/// The current keys, and how to fetch newer ones.
public final class KeySource: Sendable {
    /// The least milliseconds between two fetches for unknown keys.
    static let unknownKeyIntervalMilliseconds: Int64 = 10_000
    /// The most tokens that wait for a fetch. More are not verified: a slow URL and a client that
    /// invents key names must not use up the number of verifications in flight.
    static let waitersMax = 100

    private let keys: Mutex<KeySet?>
    private let remote: RemoteKeys?

    /// Keys that are not fetched.
    init(_ keys: KeySet) {
        self.keys = Mutex(keys)
        remote = nil
    }

    /// Keys that a fetcher returns.
    init(_ fetcher: any KeyFetcher, on loop: TaskLoop, logger: Logger) {
        keys = Mutex(nil)
        remote = RemoteKeys(fetcher, on: loop, logger: logger)
    }

    /// Keys at a URL.
    public convenience init(url: KeyURL, over http: OutgoingHTTP, logger: Logger) {
        self.init(HTTPKeyFetcher(url: url, http: http), on: http.loop, logger: logger)
    }

    var current: KeySet? { keys.withLock { $0 } }

    func replace(with keys: KeySet) {
        precondition(!keys.keys.isEmpty, "no key: every token would be invalid")
        self.keys.withLock { $0 = keys }
    }

    /// Whether the keys are the published ones.
    enum Freshness: Sendable {
        /// They were fetched successfully, now or recently.
        case upToDate
        /// The last fetch has failed.
        case unknown
    }

    /// Fetches the keys, unless they were fetched recently.
    func fetch(at now: Int64) async -> Freshness {
        guard let remote else { return .upToDate }
        return await remote.fetch(at: now, into: self)
    }

    /// Fetches the keys now; returns false if that fails.
    @discardableResult
    public func refresh() async -> Bool {
        guard let remote else { return true }
        return await remote.refresh(into: self) == .upToDate
    }

    /// Fetches the keys periodically, until the returned task is cancelled.
    @discardableResult
    public func keepFresh(every period: Duration = .seconds(600)) -> Task<Void, Never>? {
        guard let loop = remote?.loop else { return nil }
        return loop.task {
            repeat {
                await self.refresh()
            } while (try? await loop.sleep(for: TimeAmount(period))) != nil
        }
    }
}

/// Fetches a key set.
protocol KeyFetcher: Sendable {
    /// The JSON of a set.
    func fetch() async throws(KeyFetchError) -> [UInt8]
}

/// Why keys could not be fetched; one sentence.
struct KeyFetchError: Error, CustomStringConvertible {
    let description: String
}

/// Runs one fetch at a time, for all tokens that wait for it.
private actor RemoteKeys {
    private let fetcher: any KeyFetcher
    private let logger: Logger
    nonisolated let loop: TaskLoop
    private var fetchInFlight: Task<KeySource.Freshness, Never>?
    private var waiterCount = 0
    private var lastAttempt: Int64?
    private var freshness = KeySource.Freshness.unknown
    /// What the newest set has that is ignored, which has been logged.
    private var skippedBefore: Set<String> = []

    init(_ fetcher: any KeyFetcher, on loop: TaskLoop, logger: Logger) {
        self.fetcher = fetcher
        self.loop = loop
        self.logger = logger
    }

    func fetch(at now: Int64, into source: KeySource) async -> KeySource.Freshness {
        if let fetchInFlight {
            guard waiterCount < KeySource.waitersMax else { return .unknown }
            waiterCount += 1
            defer {
                waiterCount -= 1
                precondition(waiterCount >= 0, "a token that did not wait")
            }
            return await fetchInFlight.value
        }
        // `abs`: a clock that was set back must not prevent fetches.
        if let lastAttempt, abs(now - lastAttempt) < KeySource.unknownKeyIntervalMilliseconds {
            return freshness
        }
        lastAttempt = now
        return await refresh(into: source)
    }

    func refresh(into source: KeySource) async -> KeySource.Freshness {
        if let fetchInFlight { return await fetchInFlight.value }
        let task = loop.task { await self.attempt(into: source) }
        fetchInFlight = task
        freshness = await task.value
        precondition(fetchInFlight == task, "two fetches at once")
        fetchInFlight = nil
        return freshness
    }

    private func attempt(into source: KeySource) async -> KeySource.Freshness {
        do {
            let keys = try await KeySet(fetched: try await fetcher.fetch())
            for reason in keys.skipped where !skippedBefore.contains(reason) {
                logger.warning("token key ignored", metadata: ["why": "\(reason)"])
            }
            skippedBefore = Set(keys.skipped)
            source.replace(with: keys)
            return .upToDate
        } catch {
            logger.warning("cannot fetch the token keys", metadata: ["why": "\(error)"])
            return .unknown
        }
    }
}
