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
        var down: Backoff
        var random: SplitMix64
        /// The position, if it was read or has moved.
        var cursor: String?
    }

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
        _ open: @Sendable (_ cursor: String?) async throws -> any FeedConnection
    ) async {
        var opening = Backoff(millisecondsMax: settings.retryMillisecondsMax)
        var own = Own(
            ledger: PushLedger(retryMillisecondsMax: settings.retryMillisecondsMax),
            tokens: VAPIDTokens(settings.key, settings.subject),
            down: Backoff(millisecondsMax: settings.downMillisecondsMax),
            random: SplitMix64(seed: settings.seed &+ UInt64(place)),
            cursor: environment.positions.cursor(of: name))
        while !Task.isCancelled {
            do {
                let feed = try await open(own.cursor)
                defer { feed.close() }
                opening.succeed()
                try await pass(feed, &own)
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

    /// Sends what is read, until something is to be read again from the position on.
    private func pass(_ feed: any FeedConnection, _ own: inout Own) async throws {
        own.ledger.beginPass()
        var hasRead = false
        while true {
            // At least a second: further shares may follow, and contents are being read.
            let due = own.ledger.nextDue.map { max(1_000, $0 - environment.milliseconds()) }
            let item = try await feed.next(within: .milliseconds(due ?? 60_000))
            if case .undelivered(let messages, let cursor) = item {
                hasRead = true
                guard try await take(messages, cursor, &own) else { return }
                let now = environment.milliseconds()
                // Not only when there is nothing new: there may always be.
                if own.ledger.isDueAgain(at: now) { return }
                guard own.ledger.isFull, let next = own.ledger.nextDue else { continue }
                try await environment.pause(Int(clamping: max(1_000, next - now)))
                return
            }
            let now = environment.milliseconds()
            guard item == nil, let next = own.ledger.nextDue, next <= now else { continue }
            if !hasRead {
                own.ledger.postpone(at: now, &own.random)
                shared.withLock { $0.pendingSince = nil }
            }
            return
        }
    }

    /// Sends a share. Returns whether the pass continues; after a wait, it is to be read again.
    private func take(
        _ messages: FeedEvents, _ cursor: FeedCursor, _ own: inout Own
    ) async throws -> Bool {
        guard let share = PushShare(messages, cursor, of: place, among: settings.hosts) else {
            environment.logger.error(
                "Web Push cannot read a share", metadata: ["host": "\(host.text)"])
            return true
        }
        // With what an earlier share of the pass has left, that of the earlier one is older.
        let isOldest = !own.ledger.isHeld
        if isOldest { setPending(share, own.ledger) }
        let round = await attempt(share, &own)
        note(dropped: own.ledger.settle(share))
        if isOldest { setPending(share, own.ledger) }
        store(FeedCursor(epoch: cursor.epoch, seq: own.ledger.position), &own)
        try Task.checkCancellation()
        guard let round else { return true }
        guard round.isDown else {
            own.down.succeed()
            return true
        }
        try await environment.pause(
            own.down.fail(retryAfterSeconds: round.retryAfterSeconds, &own.random))
        return false
    }

    private func setPending(_ share: PushShare, _ ledger: PushLedger) {
        let first = share.pushes.first { !ledger.isFinished($0.id) }
        shared.withLock { $0.pendingSince = first?.message.time }
    }

    private func store(_ cursor: FeedCursor, _ own: inout Own) {
        // Before the first move the position is the one that was opened.
        guard cursor.seq > 0, cursor.text != own.cursor else { return }
        own.cursor = cursor.text
        guard !environment.positions.store(cursor.text, of: name) else { return }
        // Pushes are then repeated after a restart, and replace those before.
        note(failure: "cannot write its position")
    }

    // MARK: Sending

    /// Attempts the pushes of a share that are due. If the push service was down, one first.
    /// Nil: none is due.
    private func attempt(_ share: PushShare, _ own: inout Own) async -> PushLedger.Round? {
        let now = environment.milliseconds()
        var due = share.pushes.filter { own.ledger.isDue($0.id, at: now) }
        guard !due.isEmpty else { return nil }
        if own.down.failures > 0 {
            // One that has not failed yet is likelier to be accepted.
            let attempts = due.map { own.ledger.attempts(of: $0.id) ?? -1 }
            let first = attempts.indices.min { attempts[$0] < attempts[$1] } ?? 0
            let round = await send([due.remove(at: first)], &own)
            guard !round.isDown, !due.isEmpty else { return round }
        }
        return await send(due, &own)
    }

    private func send(_ pushes: [Push], _ own: inout Own) async -> PushLedger.Round {
        var answers: [(id: PushID, answer: PushAnswer)] = []
        var isAnswered = false
        await withTaskGroup(of: (Int, DeliveryOutcome).self) { group in
            var rest = pushes.indices[...]
            var inFlight = 0
            while true {
                while inFlight < PushSettings.inFlightMax, let place = rest.popFirst() {
                    guard let request = request(pushes[place], &own) else {
                        answers.append((pushes[place].id, .rejected))
                        continue
                    }
                    let (delivery, seconds) = (environment.delivery, settings.timeoutSeconds)
                    group.addTask(operation: {
                        (place, await delivery.attempt(request, timeoutSeconds: seconds))
                    })
                    inFlight += 1
                }
                guard let (place, outcome) = await group.next() else { break }
                inFlight -= 1
                // What was interrupted by the end of the service has not failed.
                if Task.isCancelled, outcome.status == nil { continue }
                let answer = await answered(pushes[place], outcome)
                answers.append((pushes[place].id, answer))
                if !answer.isUnavailable { isAnswered = true }
                // The others would only wait for a push service that is down.
                let isHopeless = !isAnswered && answers.count >= PushSettings.inFlightMax
                if isHopeless || Task.isCancelled { rest = rest.prefix(0) }
            }
        }
        let round = own.ledger.note(
            answers, at: environment.milliseconds(), wall: environment.wallMilliseconds() / 1_000,
            &own.random)
        note(dropped: round.dropped)
        return round
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
