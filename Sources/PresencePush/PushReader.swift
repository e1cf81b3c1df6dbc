// One reader of what is undelivered, for the push services of one entry of the list of hosts.

import Containers
import Deliveries
import Logging
import NIOCore
import OutgoingHTTP
import PresenceGateway
import PresenceServer
import PresenceWire
import Synchronization
import WebPush

final class PushReader: Sendable {
    /// What a reader needs from outside.
    struct Environment: Sendable {
        var delivery: any Delivery
        var devices: any PushDevices
        var positions: ReaderPositions
        /// Waits for milliseconds.
        var pause: @Sendable (Int) async throws -> Void
        /// Milliseconds of a steady clock.
        var milliseconds: @Sendable () -> Int64
        /// Milliseconds since 1970 UTC.
        var wallMilliseconds: @Sendable () -> Int64
        var logger: Logger
    }

    private struct Shared {
        var counters: PushCounters
        /// When the oldest message was sent whose push is not finished.
        var pendingSince: Int64?
    }

    /// What only the task of the reader has.
    private struct Own {
        var ledger: PushLedger
        var tokens: VAPIDTokens
        var random: SplitMix64
        /// The position, if it was read or has moved.
        var cursor: String?
        /// Distinguishes the database; nil before anything was read.
        var epoch: UInt64?
        /// What was read and is still to be admitted, and the position after it.
        var rest: ArraySlice<Push> = []
        var end: UInt64 = 0
        /// The same of what was read again.
        var again: ArraySlice<Push> = []
        var isReading = false
        var isRereading = false
        var isTicking = false
        /// Why nothing more can be read.
        var failure: (any Error)?
    }

    /// What the task waits for.
    private enum Event: Sendable {
        case read(Result<FeedItem?, any Error>)
        /// What was read again, from a number on; nil: there was nothing.
        case reread(from: UInt64, FeedItem?)
        /// How a push has ended; nil: it was interrupted.
        case ended(PushID, PushAnswer?)
        case ticked
    }

    private typealias Open = @Sendable (_ cursor: String?) async throws -> any FeedConnection

    private let host: PushHost
    private let place: Int
    private let settings: PushSettings
    private let environment: Environment
    private let shared: Mutex<Shared>

    init(_ place: Int, _ settings: PushSettings, _ environment: Environment) {
        host = settings.hosts.entries[place]
        self.place = place
        self.settings = settings
        self.environment = environment
        shared = Mutex(Shared(counters: PushCounters(host: host.text)))
    }

    /// The current counters.
    var counters: PushCounters {
        let now = environment.wallMilliseconds()
        return shared.withLock { shared in
            var counters = shared.counters
            if let since = shared.pendingSince {
                counters.lagSeconds = Int(clamping: max(0, now - since) / 1_000)
            }
            return counters
        }
    }

    /// The name of its position: the characters of a host that a file name should not have are `_`.
    var name: String {
        String(host.text.map { $0.isLetter || $0.isNumber || ".-".contains($0) ? $0 : "_" })
    }

    // MARK: Reading

    /// Reads and sends, from one opening of what is undelivered to the next.
    func serve(
        _ open: @escaping @Sendable (_ cursor: String?) async throws -> any FeedConnection
    ) async {
        var opening = Backoff(millisecondsMax: settings.retryMillisecondsMax)
        var own = Own(
            ledger: PushLedger(
                retryMillisecondsMax: settings.retryMillisecondsMax,
                downMillisecondsMax: settings.downMillisecondsMax),
            tokens: VAPIDTokens(settings.key, settings.subject),
            random: SplitMix64(seed: settings.seed &+ UInt64(place)),
            cursor: environment.positions.cursor(of: name))
        while !Task.isCancelled {
            do {
                // Where it has read to, which may be beyond the position.
                let cursor = own.epoch.map { FeedCursor(epoch: $0, seq: own.ledger.read).text }
                let feed = try await open(cursor ?? own.cursor)
                defer { feed.close() }
                opening.succeed()
                try await follow(feed, open, &own)
                continue
            } catch InProcessError.rejected(let error) {
                environment.logger.warning(
                    "Web Push cannot read what is undelivered; retrying",
                    metadata: ["host": "\(host.text)", "error": "\(error.message)"])
            } catch {
                guard !Task.isCancelled else { return }
                environment.logger.debug(
                    "Web Push cannot continue reading; opening it again",
                    metadata: ["host": "\(host.text)", "error": "\(error)"])
            }
            try? await environment.pause(opening.fail(&own.random))
        }
    }

    /// Reads and sends at the same time, until it cannot read, and what is in flight has ended.
    private func follow(
        _ feed: any FeedConnection, _ open: @escaping Open, _ own: inout Own
    ) async throws {
        own.failure = nil
        await withTaskGroup(of: Event.self) { group in
            proceed(feed, open, &own, &group)
            while let event = await group.next() {
                take(event, &own)
                if own.failure == nil { proceed(feed, open, &own, &group) }
            }
        }
        // What was answered since the last tick is not pushed again after an orderly restart.
        store(&own)
        if let failure = own.failure { throw failure }
    }

    private func take(_ event: Event, _ own: inout Own) {
        let now = environment.milliseconds()
        switch event {
        case .read(.success(let item)):
            own.isReading = false
            guard let share = share(of: item, &own) else { break }
            (own.rest, own.end) = (share.pushes[...], share.end)
        case .read(.failure(let error)):
            own.isReading = false
            own.failure = error
        case .reread(let number, let item):
            own.isRereading = false
            if let share = share(of: item, &own) {
                own.again = own.ledger.takeAgain(share, from: number)[...]
            } else {
                own.ledger.missAgain(from: number, at: now)
            }
        case .ended(let id, let answer?):
            note(
                dropped: own.ledger.note(
                    answer, to: id, at: now, wall: environment.wallMilliseconds() / 1_000,
                    &own.random))
        case .ended(let id, nil): own.ledger.interrupt(id, at: now)
        case .ticked: own.isTicking = false
        }
    }

    private func share(of item: FeedItem?, _ own: inout Own) -> PushShare? {
        guard case .undelivered(let messages, let cursor) = item else { return nil }
        own.epoch = cursor.epoch
        let share = PushShare(messages, cursor, of: place, among: settings.hosts)
        if share == nil {
            environment.logger.error(
                "Web Push cannot read a share", metadata: ["host": "\(host.text)"])
        }
        return share
    }

    /// Begins what can be begun now.
    private func proceed(
        _ feed: any FeedConnection, _ open: @escaping Open, _ own: inout Own,
        _ group: inout TaskGroup<Event>
    ) {
        let now = environment.milliseconds()
        while let push = own.rest.first, begin(push, &own, &group) {
            own.rest.removeFirst()
            let next = own.rest.first.map { $0.id.number - 1 }
            own.ledger.passed(upTo: next ?? own.end)
        }
        if own.rest.isEmpty { own.ledger.passed(upTo: own.end) }
        while let push = own.again.first, begin(push, &own, &group) { own.again.removeFirst() }
        if own.rest.isEmpty, !own.isReading, own.ledger.mayRead(at: now) {
            own.isReading = true
            group.addTask {
                do {
                    return .read(.success(try await feed.next(within: .seconds(60))))
                } catch {
                    return .read(.failure(error))
                }
            }
        }
        if own.again.isEmpty, !own.isRereading, let number = own.ledger.firstDue(at: now),
            let epoch = own.epoch
        {
            own.isRereading = true
            let cursor = FeedCursor(epoch: epoch, seq: number - 1).text
            group.addTask { .reread(from: number, await Self.item(after: cursor, open)) }
        }
        // Not with every result: it costs a write, and a look at all that waits.
        if !own.isTicking || !own.ledger.isBusy {
            show(own.ledger)
            store(&own)
        }
        if own.ledger.isBusy, !own.isTicking {
            own.isTicking = true
            let pause = environment.pause
            group.addTask {
                try? await pause(Self.tickMilliseconds)
                return .ticked
            }
        }
    }

    /// How often what was set aside is looked at.
    private static let tickMilliseconds = 500

    /// The first share after a position; nil if there is none.
    private static func item(after cursor: String, _ open: Open) async -> FeedItem? {
        guard let feed = try? await open(cursor) else { return nil }
        defer { feed.close() }
        return try? await feed.next(within: .seconds(1))
    }

    private func show(_ ledger: PushLedger) {
        let since = ledger.pendingSince
        shared.withLock { shared in
            shared.pendingSince = since
            shared.counters.waiting = ledger.waitingCount
            shared.counters.failingEndpoints = ledger.failingCount
        }
    }

    private func store(_ own: inout Own) {
        guard let epoch = own.epoch else { return }
        let cursor = FeedCursor(epoch: epoch, seq: own.ledger.position)
        // Before the first move the position is the one that was opened.
        guard cursor.seq > 0, cursor.text != own.cursor else { return }
        own.cursor = cursor.text
        guard !environment.positions.store(cursor.text, of: name) else { return }
        // Pushes are then repeated after a restart, and replace those before.
        note(failure: "cannot write its position")
    }

    // MARK: Sending

    /// Attempts a push, or sets it aside. Returns false if there is no room for it now.
    private func begin(
        _ push: Push, _ own: inout Own, _ group: inout TaskGroup<Event>
    ) -> Bool {
        switch own.ledger.admit(push, at: environment.milliseconds()) {
        case .full: return false
        case .waits(let droppedCount): note(dropped: droppedCount)
        case .begun:
            guard let request = request(push, &own) else {
                group.addTask { .ended(push.id, .rejected) }
                return true
            }
            group.addTask { [self] in
                let outcome = await environment.delivery.attempt(
                    request, timeoutSeconds: settings.timeoutSeconds)
                // What was interrupted by the end of the service has not failed.
                if Task.isCancelled, outcome.status == nil { return .ended(push.id, nil) }
                return .ended(push.id, await answered(push, outcome))
            }
        }
        return true
    }

    /// Nil if it cannot be encrypted or signed, which no input leads to.
    private func request(_ push: Push, _ own: inout Own) -> DeliveryRequest? {
        guard
            let request = try? PushRequest(
                push.message.plaintext(), of: push.message, to: push.subscription, &own.tokens,
                at: environment.wallMilliseconds())
        else { return nil }
        return DeliveryRequest(
            ByteBuffer(bytes: request.body), to: request.url, headers: request.headers,
            reach: host.mayBePrivate ? .anywhere : .publicAddresses)
    }

    private func answered(_ push: Push, _ outcome: DeliveryOutcome) async -> PushAnswer {
        let answer = PushAnswer(status: outcome.status, outcome.retryAfter)
        switch answer {
        case .accepted: shared.withLock { $0.counters.sent += 1 }
        case .gone:
            let isRemoved = await environment.devices.remove(
                push.address, of: push.id.device, of: push.message.account)
            if isRemoved { shared.withLock { $0.counters.addressesRemoved += 1 } }
        case .rejected, .unavailable, .tooMany: note(failure: outcome.failureReason)
        }
        return answer
    }

    // MARK: Counting

    private func note(failure why: String) {
        let count = shared.withLock { shared in
            shared.counters.failures += 1
            return shared.counters.failures
        }
        guard Self.isPowerOfTwo(count) else { return }
        environment.logger.warning(
            "Web Push failed",
            metadata: ["host": "\(host.text)", "why": "\(why)", "times": "\(count)"])
    }

    private func note(dropped count: Int) {
        let (before, after) = shared.withLock { shared in
            defer { shared.counters.dropped += count }
            return (shared.counters.dropped, shared.counters.dropped + count)
        }
        guard (before..<after).contains(where: { Self.isPowerOfTwo($0 + 1) }) else { return }
        environment.logger.warning(
            "Web Push dropped messages",
            metadata: ["host": "\(host.text)", "times": "\(after)"])
    }

    private static func isPowerOfTwo(_ count: Int) -> Bool { count & (count - 1) == 0 }
}
