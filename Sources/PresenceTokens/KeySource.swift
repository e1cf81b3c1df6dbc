// Where keys come from. Those of a URL are fetched at the start, every ten minutes, and when a
// token names one that is not known. Everybody may send tokens with any `kid`, so the last is done
// every ten seconds at most, and who needs it meanwhile waits for the one that is under way.
//
// While the URL does not answer, the keys stay that were there. A key that cannot be looked for is
// then neither known nor unknown, and whoever comes with it is told to come back (503), not that
// the token is none (401).

public import Logging
import NIOCore
public import OutgoingHTTP
import Synchronization
import TaskLoops

/// The keys that hold now, and how to get newer ones.
public final class KeySource: Sendable {
    /// Milliseconds between two fetches for the sake of unknown names.
    static let gapMilliseconds: Int64 = 10_000
    /// How many wait for a fetch at a time. Beyond, nobody knows: so that a URL that is slow and
    /// somebody who makes up names do not take all the room there is for being judged.
    static let waitersMax = 100

    private let keys: Mutex<KeySet?>
    private let remote: RemoteKeys?

    /// Keys that stay.
    init(_ keys: KeySet) {
        self.keys = Mutex(keys)
        remote = nil
    }

    /// Keys that a fetcher gets.
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
        self.keys.withLock { $0 = keys }
    }

    /// How sure we can be of the keys.
    enum Freshness: Sendable {
        /// What there is, is there; or was a moment ago.
        case upToDate
        /// Nobody knows: the last attempt has failed.
        case unknown
    }

    /// Fetches the keys, unless that was done a moment ago.
    func fetch(at now: Int64) async -> Freshness {
        guard let remote else { return .upToDate }
        return await remote.fetch(at: now, into: self)
    }

    /// Fetches the keys now, whatever was before; false: it has failed.
    @discardableResult
    public func refresh() async -> Bool {
        guard let remote else { return true }
        return await remote.refresh(into: self) == .upToDate
    }

    /// Begins to fetch the keys again and again, until the task that it returns is cancelled.
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

/// Gets a set of keys from somewhere.
protocol KeyFetcher: Sendable {
    /// The JSON of a set.
    func fetch() async throws(KeyFetchError) -> [UInt8]
}

/// Why keys could not be fetched; one sentence.
struct KeyFetchError: Error, CustomStringConvertible {
    let description: String
}

/// One fetch at a time, for all who wait for it.
private actor RemoteKeys {
    private let fetcher: any KeyFetcher
    private let logger: Logger
    nonisolated let loop: TaskLoop
    private var underWay: Task<KeySource.Freshness, Never>?
    private var waiterCount = 0
    private var lastAttempt: Int64?
    private var freshness = KeySource.Freshness.unknown

    init(_ fetcher: any KeyFetcher, on loop: TaskLoop, logger: Logger) {
        self.fetcher = fetcher
        self.loop = loop
        self.logger = logger
    }

    func fetch(at now: Int64, into source: KeySource) async -> KeySource.Freshness {
        if let underWay {
            guard waiterCount < KeySource.waitersMax else { return .unknown }
            waiterCount += 1
            defer { waiterCount -= 1 }
            return await underWay.value
        }
        // A clock that was set back must not keep us from it.
        if let lastAttempt, abs(now - lastAttempt) < KeySource.gapMilliseconds { return freshness }
        lastAttempt = now
        return await refresh(into: source)
    }

    func refresh(into source: KeySource) async -> KeySource.Freshness {
        if let underWay { return await underWay.value }
        let task = loop.task { await self.attempt(into: source) }
        underWay = task
        freshness = await task.value
        underWay = nil
        return freshness
    }

    private func attempt(into source: KeySource) async -> KeySource.Freshness {
        do {
            let keys = try await KeySet(fetched: try await fetcher.fetch())
            for reason in keys.skipped {
                logger.warning("token key ignored", metadata: ["why": "\(reason)"])
            }
            source.replace(with: keys)
            return .upToDate
        } catch {
            logger.warning("cannot fetch the token keys", metadata: ["why": "\(error)"])
            return .unknown
        }
    }
}
