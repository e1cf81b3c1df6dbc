import Deliveries
import Logging
import NIOCore
import NIOPosix
import PresenceCore
import PresenceWire
import Synchronization
import TaskLoops
import Testing

@testable import PresenceWebhooks

/// A feed, a receiver and a disk that do as they are told, and what has happened to them.
final class Stage: Delivery, FeedConnection, Sendable {
    private struct State {
        var items: [FeedItem]
        var statuses: [Int]
        var kept: String?
        var writesFail = 0
        var start: FeedStart
    }

    private let state: Mutex<State>
    private let forever = AsyncStream<Never> { _ in }
    private let (happened, happens) = AsyncStream<String>.makeStream()

    /// Of the reader that was opened last: one without a position begins anew.
    var start: FeedStart { state.withLock { $0.start } }
    private let isOneByOne: Bool

    init(
        _ start: FeedStart, _ items: [FeedItem], statuses: [Int] = [], writesFail: Int = 0,
        kept: String? = nil, isOneByOne: Bool = false
    ) {
        self.isOneByOne = isOneByOne
        state = Mutex(
            State(
                items: items, statuses: statuses, kept: kept,
                writesFail: writesFail, start: start))
    }

    private func note(_ what: String) { happens.yield(what) }

    func open(from cursor: String?) -> Stage {
        note("open \(cursor ?? "-")")
        if cursor == nil { state.withLock { $0.start = .reset } }
        return self
    }

    func next(within time: TimeAmount) async throws -> FeedItem? {
        if isOneByOne, time < .seconds(1) { return nil }
        if let item = state.withLock({ $0.items.isEmpty ? nil : $0.items.removeFirst() }) {
            return item
        }
        if time < .seconds(1) { return nil }
        for await _ in forever {}
        throw CancellationError()
    }

    func close() {}

    func attempt(_ request: DeliveryRequest, timeoutSeconds: Int) async -> DeliveryOutcome {
        let status = state.withLock { $0.statuses.isEmpty ? 204 : $0.statuses.removeFirst() }
        let text = String(buffer: request.body)
        let marks = ["reset", "snapshot", "synced"].filter { text.contains("\"\($0)\"") }
        note("post \(text.split(separator: "\"")[3].split(separator: "-")[1]) \(marks) \(status)")
        return status == 0 ? .noResponse("no response") : .response(status: status)
    }

    var positions: ReaderPositions {
        ReaderPositions(
            newest: FeedCursor(epoch: 1, seq: 9),
            load: { [self] _ in state.withLock { $0.kept.map { ReaderPosition($0) } } },
            store: { [self] _, change in
                let isKept = state.withLock { state in
                    state.writesFail -= 1
                    if state.writesFail >= 0 { return false }
                    state.kept = change.cursor
                    return true
                }
                note(isKept ? "keep \(change.cursor ?? "-")" : "cannot keep")
                return isKept
            })
    }

    /// Runs a webhook until so much has happened, and tells what.
    func play(_ count: Int) async throws -> (story: [String], counters: WebhookCounters) {
        var settings = WebhookSettings(seed: 1)
        settings.retrySecondsMax = 0
        let environment = Webhook.Environment(
            delivery: self, positions: positions,
            loop: TaskLoop(MultiThreadedEventLoopGroup.singleton.next()),
            wallMilliseconds: { 1_000_000 }, logger: Logger(label: "test"))
        let endpoint = try WebhookEndpoint(
            name: "a", url: "http://a", secret: Array("a secret of some length".utf8))
        let webhook = Webhook(endpoint, settings, seed: 1, environment)
        let task = Task { await webhook.serve { self.open(from: $1) } }
        var story: [String] = []
        for await what in happened {
            story.append(what)
            if story.count == count { break }
        }
        let counters = webhook.counters
        task.cancel()
        await task.value
        return (story, counters)
    }
}

@Suite struct `A webhook` {
    private func cursor(_ seq: UInt64) -> FeedCursor { FeedCursor(epoch: 1, seq: seq) }
    private var b: String { cursor(2).text }
    private var c: String { cursor(3).text }

    private func events(_ seq: Int) -> FeedEvents {
        FeedEvents(
            bytes: Array(#"{"type":1,"publisher":"a","value":1,"seq":\#(seq),"time":5}"#.utf8),
            count: 1, firstTime: Wall(milliseconds: 5))
    }

    @Test func `removes its position before it posts a reset, and stores it after`() async throws {
        let stage = Stage(
            .reset,
            [.states(events(1)), .synced(cursor(2)), .changes(events(2), cursor(3))])
        let (story, counters) = try await stage.play(6)
        #expect(
            story == [
                "open -", "keep -", "post 1 [\"reset\", \"snapshot\", \"synced\"] 204",
                "keep \(b)", "post 2 [] 204", "keep \(c)",
            ])
        #expect(counters.batches == 2 && counters.events == 2 && counters.resets == 1)
        #expect(counters.lastStatus == 204 && counters.failures == 0)
    }

    @Test func `continues at its position`() async throws {
        let stage = Stage(.resumed, [.changes(events(2), cursor(3))], kept: "B")
        #expect(try await stage.play(3).story == ["open B", "post 1 [] 204", "keep \(c)"])
    }

    /// Devices may have taken some of it by the next attempt.
    @Test func `reads what is undelivered again if it is not accepted`() async throws {
        let stage = Stage(
            .resumed, [.undelivered(events(2), cursor(3))], statuses: [503],
            kept: "B")
        let (story, counters) = try await stage.play(3)
        #expect(story == ["open B", "post 1 [] 503", "open B"])
        #expect(counters.failures == 1 && counters.batches == 0)
    }

    /// An endpoint that has lost its table is sent everything, without an operator.
    @Test func `begins anew if the endpoint asks for it`() async throws {
        let stage = Stage(
            .resumed,
            [.changes(events(1), cursor(2)), .synced(cursor(2))],
            statuses: [205, 205], kept: "A", isOneByOne: true)
        let (story, counters) = try await stage.play(7)
        // A response to the snapshot that asks again accepts it, so that there is no loop.
        #expect(
            story == [
                "open A", "post 1 [] 205", "keep -", "open -", "keep -",
                "post 2 [\"reset\", \"snapshot\", \"synced\"] 205", "keep \(b)",
            ])
        #expect(counters.failures == 1 && counters.batches == 1)
    }

    @Test(arguments: [[500], [0], [301, 404, 410, 429, 503]])
    func `posts the same batch until it is accepted`(statuses: [Int]) async throws {
        let stage = Stage(
            .resumed, [.changes(events(1), cursor(2))], statuses: statuses, kept: "A")
        let (story, counters) = try await stage.play(statuses.count + 3)
        #expect(
            story == ["open A"] + statuses.map { "post 1 [] \($0)" }
                + ["post 1 [] 204", "keep \(b)"])
        #expect(counters.failures == statuses.count && counters.failuresInARow == 0)
    }

    @Test func `posts no reset before its position is removed`() async throws {
        let stage = Stage(.reset, [.synced(cursor(2))], writesFail: 2)
        #expect(
            try await stage.play(6).story == [
                "open -", "cannot keep", "cannot keep", "keep -",
                "post 1 [\"reset\", \"snapshot\", \"synced\"] 204", "keep \(b)",
            ])
    }
}
