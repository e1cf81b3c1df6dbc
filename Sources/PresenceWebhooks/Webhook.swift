import Containers
import Deliveries
import HTTPValues
import Logging
import NIOCore
import PresenceServer
import PresenceWire
import Synchronization
import TaskLoops

/// One endpoint: reads the feed and posts it, until it is cancelled.
final class Webhook: Sendable {
    /// What a webhook needs from outside.
    struct Environment: Sendable {
        var delivery: any Delivery
        var positions: ReaderPositions
        /// Where it waits between attempts.
        var loop: TaskLoop
        /// Milliseconds since 1970 UTC.
        var wallMilliseconds: @Sendable () -> Int64
        var logger: Logger
    }

    private struct State {
        var counters: WebhookCounters
        var random: SplitMix64
        var lastBatch = 0
        /// The position.
        var cursor: String?
        /// When the first event of the batch being posted happened.
        var pendingSince: Int64?
    }

    private let endpoint: WebhookEndpoint
    private let settings: WebhookSettings
    private let environment: Environment
    /// Distinguishes the batches of this run from those of other runs.
    private let run: UInt64
    private let state: Mutex<State>

    init(
        _ endpoint: WebhookEndpoint, _ settings: WebhookSettings, seed: UInt64,
        _ environment: Environment
    ) {
        self.endpoint = endpoint
        self.settings = settings
        self.environment = environment
        var random = SplitMix64(seed: seed)
        run = random.next()
        state = Mutex(State(counters: WebhookCounters(name: endpoint.name), random: random))
    }

    /// The current counters.
    var counters: WebhookCounters {
        let now = environment.wallMilliseconds()
        return state.withLock { state in
            var counters = state.counters
            if let since = state.pendingSince {
                counters.lagSeconds = Int(clamping: max(0, now - since) / 1_000)
            }
            return counters
        }
    }

    // MARK: Reading

    /// Reads and posts, from one opening of the feed to the next.
    func serve(
        _ open: @Sendable (WebhookStream, _ cursor: String?) async throws -> any FeedConnection
    ) async {
        var backoff = Backoff(millisecondsMax: settings.retrySecondsMax * 1_000)
        var deliveries = backoff
        let position = await environment.positions.position(of: endpoint.name)
        state.withLock { $0.cursor = position?.cursor }
        while !Task.isCancelled {
            do {
                let feed = try await open(endpoint.stream, state.withLock { $0.cursor })
                defer { feed.close() }
                try await follow(feed, &backoff, &deliveries)
            } catch is OutdatedBatchError {
                continue
            } catch is ResetRequestError {
                environment.logger.notice(
                    "webhook endpoint asks for a reset",
                    metadata: ["webhook": "\(endpoint.name)"])
            } catch InProcessError.rejected(let error) {
                environment.logger.warning(
                    "webhook cannot read the feed; retrying",
                    metadata: ["webhook": "\(endpoint.name)", "error": "\(error.message)"])
            } catch {
                guard !Task.isCancelled else { return }
                environment.logger.debug(
                    "webhook cannot continue with the feed; opening it again",
                    metadata: ["webhook": "\(endpoint.name)", "error": "\(error)"])
            }
            await pause(state.withLock { backoff.fail(&$0.random) })
        }
    }

    /// Posts what the feed has, until it ends.
    private func follow(
        _ feed: any FeedConnection, _ backoff: inout Backoff, _ deliveries: inout Backoff
    ) async throws {
        var builder = BatchBuilder(feed.start)
        while true {
            // What arrived while the last batch was being posted goes into one batch.
            let time: TimeAmount = builder.hasContent ? .milliseconds(2) : .seconds(60)
            if let item = try await feed.next(within: time) {
                if let batch = builder.add(item) { try await deliver(batch, &deliveries) }
            } else if builder.hasContent {
                try await deliver(builder.take(), &deliveries)
            }
            backoff.succeed()
        }
    }

    // MARK: Delivery

    /// Posts a batch until the receiver accepts it, and then stores the position after it.
    /// - Throws: `OutdatedBatchError` if it is to be read again instead of posted again.
    private func deliver(_ batch: Batch, _ backoff: inout Backoff) async throws {
        let id = state.withLock { state in
            state.lastBatch += 1
            state.pendingSince = batch.firstTime ?? environment.wallMilliseconds()
            if batch.isReset { state.counters.resets += 1 }
            return "\(String(run, radix: 16))-\(state.lastBatch)"
        }
        defer { state.withLock { $0.pendingSince = nil } }
        // First forget the position: the receiver may discard its table before the batch is
        // accepted.
        while batch.isReset, !(await store(nil)) {
            recordFailure("cannot write its position", backoff.failures)
            try await pauseOrEnd(state.withLock { backoff.fail(&$0.random) })
        }
        let body = batch.body(id: id)
        while true {
            let outcome = await attempt(body)
            try Task.checkCancellation()
            state.withLock { $0.counters.lastStatus = outcome.status }
            // An endpoint that asks for a reset has not stored the batch, unless that is one.
            if outcome.asksForReset, batch.stream == .events, !batch.isSnapshot {
                recordFailure(outcome.failureReason, 0)
                guard await store(nil) else { throw OutdatedBatchError() }
                throw ResetRequestError()
            }
            if outcome.isAccepted { break }
            recordFailure(outcome.failureReason, backoff.failures)
            let asked = outcome.retryAfter?.seconds(at: environment.wallMilliseconds() / 1_000)
            try await pauseOrEnd(
                state.withLock { backoff.fail(retryAfterSeconds: asked, &$0.random) })
            if batch.stream == .undelivered { throw OutdatedBatchError() }
        }
        recordSuccess(batch, failures: backoff.failures)
        backoff.succeed()
        if let cursor = batch.cursor, !(await store(cursor)) {
            // The batch is then repeated after a restart, which does no harm.
            recordFailure("cannot write its position", 0)
        }
    }

    /// Stores the position. Returns whether it is durable.
    private func store(_ cursor: String?) async -> Bool {
        let isStored = await environment.positions.store(
            PositionChange(cursor), of: endpoint.name)
        if isStored { state.withLock { $0.cursor = cursor } }
        return isStored
    }

    private func attempt(_ body: ByteBuffer) async -> DeliveryOutcome {
        let signature = Signature.value(
            of: body.readableBytesView, seconds: environment.wallMilliseconds() / 1_000,
            secret: endpoint.secret)
        let headers = [
            ("Content-Type", "application/json"), ("User-Agent", "porchlight"),
            (Signature.header, signature),
        ]
        return await environment.delivery.attempt(
            DeliveryRequest(body, to: endpoint.url, headers: headers),
            timeoutSeconds: settings.timeoutSeconds)
    }

    private func recordSuccess(_ batch: Batch, failures: Int) {
        state.withLock { state in
            state.counters.batches += 1
            state.counters.events += batch.count
            state.counters.failuresInARow = 0
        }
        guard failures > 0 else { return }
        environment.logger.notice(
            "webhook delivery succeeded again",
            metadata: [
                "webhook": "\(endpoint.name)", "failures": .stringConvertible(failures),
            ])
    }

    private func recordFailure(_ what: String, _ failuresBefore: Int) {
        state.withLock { state in
            state.counters.failures += 1
            state.counters.failuresInARow += 1
        }
        // Log the first, second, fourth, eighth … failure only.
        guard (failuresBefore + 1) & failuresBefore == 0 else { return }
        environment.logger.warning(
            "webhook delivery failed; retrying",
            metadata: [
                "webhook": "\(endpoint.name)", "why": "\(what)",
                "times": .stringConvertible(failuresBefore + 1),
            ])
    }

    private func pause(_ milliseconds: Int) async {
        try? await pauseOrEnd(milliseconds)
    }

    private func pauseOrEnd(_ milliseconds: Int) async throws {
        try await environment.loop.sleep(for: .milliseconds(Int64(milliseconds)))
    }
}

/// The endpoint has lost its table.
private struct ResetRequestError: Error {}

/// A batch of what is undelivered was not accepted: devices may have taken some of it by the next
/// attempt.
private struct OutdatedBatchError: Error {}
