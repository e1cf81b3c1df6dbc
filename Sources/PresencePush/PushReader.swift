// One reader of what is undelivered, for the push services of one entry of the list of hosts.

import Containers
import Deliveries
import Logging
import NIOCore
import OutgoingHTTP
import PresenceCore
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
        /// Distinguishes the database.
        var epoch: UInt64
        /// The position that is stored; nil: none.
        var stored: String?
        var isStoring = false
        /// Storing has failed: not before the next tick again.
        var hasFailedToStore = false
        /// What has changed is stored although something is in flight.
        var hasTicked = false
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
        /// Whether a change of the position was stored.
        case stored(PositionChange, Bool)
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

    /// The name of its position.
    private var name: String { host.text }

    // MARK: Reading

    /// Reads and sends, from one opening of what is undelivered to the next.
    func serve(
        _ open: @escaping @Sendable (_ cursor: String?) async throws -> any FeedConnection
    ) async {
        var opening = Backoff(millisecondsMax: settings.retryMillisecondsMax)
        var own = await begin()
        while !Task.isCancelled {
            do {
                // Where it has read to, which may be beyond the position.
                let cursor = FeedCursor(epoch: own.epoch, seq: own.ledger.read)
                let feed = try await open(cursor.text)
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

    /// Where it was, or what it begins with: nothing that waits already. Else a first key, or an
    /// entry for another push service, would push for weeks back.
    private func begin() async -> Own {
        let stored = await environment.positions.position(of: name)
        let newest = environment.positions.newest
        // One of another database says nothing about this one.
        let cursor = stored?.cursor.flatMap { FeedCursor($0) }
        let isKnown = cursor?.epoch == newest.epoch
        let start = isKnown ? cursor ?? newest : newest
        var isStored = isKnown
        if !isStored {
            isStored = await environment.positions.store(PositionChange(start.text), of: name)
        }
        return Own(
            ledger: PushLedger(
                retryMillisecondsMax: settings.retryMillisecondsMax,
                downMillisecondsMax: settings.downMillisecondsMax, read: start.seq,
                unfinished: isKnown ? stored?.unfinished ?? [] : []),
            tokens: VAPIDTokens(settings.key, settings.subject),
            random: SplitMix64(seed: settings.seed &+ UInt64(place)), epoch: start.epoch,
            stored: isStored ? start.text : nil)
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
        if let change = takeChange(&own) {
            note(await environment.positions.store(change, of: name), change, &own)
        }
        if let failure = own.failure { throw failure }
    }

    private func take(_ event: Event, _ own: inout Own) {
        let now = environment.milliseconds()
        switch event {
        case .read(.success(let item)):
            own.isReading = false
            guard let share = share(of: item, &own) else { break }
            (own.rest, own.end) = (share.pushes[...], share.end)
            note(passedOver: share.passedOver)
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
        case .stored(let change, let isStored):
            own.isStoring = false
            note(isStored, change, &own)
        case .ticked:
            own.isTicking = false
            own.hasFailedToStore = false
            own.hasTicked = true
        }
    }

    private func share(of item: FeedItem?, _ own: inout Own) -> PushShare? {
        guard case .undelivered(let messages, let cursor) = item else { return nil }
        own.epoch = cursor.epoch
        return PushShare(messages, cursor, of: place, among: settings.hosts)
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
        if own.again.isEmpty, !own.isRereading, let number = own.ledger.firstDue(at: now) {
            own.isRereading = true
            let cursor = FeedCursor(epoch: own.epoch, seq: number - 1).text
            group.addTask { .reread(from: number, await Self.item(after: cursor, open)) }
        }
        // Not with every result: it costs a write, and a look at all that waits.
        if !own.isTicking || !own.ledger.isBusy {
            show(own.ledger)
            store(&own, &group)
        }
        if own.ledger.isBusy || own.hasFailedToStore, !own.isTicking {
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

    // MARK: The position

    /// Begins to store what has changed, one change at a time.
    private func store(_ own: inout Own, _ group: inout TaskGroup<Event>) {
        guard !own.isStoring, !own.hasFailedToStore, own.hasTicked || !own.ledger.isBusy,
            let change = takeChange(&own)
        else { return }
        own.isStoring = true
        own.hasTicked = false
        group.addTask { [self] in
            .stored(change, await environment.positions.store(change, of: name))
        }
    }

    /// What is to be stored; nil: nothing has changed.
    private func takeChange(_ own: inout Own) -> PositionChange? {
        let cursor = FeedCursor(epoch: own.epoch, seq: own.ledger.read).text
        let (begun, finished) = own.ledger.takeChanges()
        guard cursor != own.stored || !begun.isEmpty || !finished.isEmpty else { return nil }
        return PositionChange(
            cursor, begun: begun, finished: finished.map { ($0.number, $0.device.text) })
    }

    private func note(_ isStored: Bool, _ change: PositionChange, _ own: inout Own) {
        guard !isStored else {
            own.stored = change.cursor
            return
        }
        // Until it is stored, pushes would be repeated after a restart.
        own.hasFailedToStore = true
        own.ledger.giveBack(
            change.begun.map { PushID(number: $0.number, device: ExactText($0.device)) }
                + change.finished.map { PushID(number: $0.number, device: ExactText($0.device)) })
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
                push.address, of: push.id.device.text, of: push.message.account)
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
            metadata: [
                "host": "\(host.text)", "why": "\(why)", "times": .stringConvertible(count),
            ])
    }

    private func note(passedOver counts: [PushRejection: Int]) {
        guard !counts.isEmpty else { return }
        shared.withLock { $0.counters.passedOver.merge(counts, uniquingKeysWith: +) }
    }

    private func note(dropped count: Int) {
        let (before, after) = shared.withLock { shared in
            defer { shared.counters.dropped += count }
            return (shared.counters.dropped, shared.counters.dropped + count)
        }
        guard (before..<after).contains(where: { Self.isPowerOfTwo($0 + 1) }) else { return }
        environment.logger.warning(
            "Web Push dropped messages",
            metadata: ["host": "\(host.text)", "times": .stringConvertible(after)])
    }

    private static func isPowerOfTwo(_ count: Int) -> Bool { count & (count - 1) == 0 }
}
