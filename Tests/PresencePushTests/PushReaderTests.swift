import Containers
import Deliveries
import Foundation
import HTTPValues
import Logging
import NIOCore
import NIOPosix
import PresenceCore
import PresenceWire
import Synchronization
import TaskLoops
import Testing
import WebPush

@testable import PresencePush

/// A service, a push service, a disk and a clock that do as they are told, and what has happened.
final class Stage: Delivery, PushDevices, Sendable {
    private struct State {
        var waiting: [UndeliveredEntry]
        /// By device; then 201.
        var answers: [String: [(status: Int, retryAfter: Int?)]]
        /// Done after so many pauses.
        var afterPauses: [@Sendable (Stage) -> Void]
        /// What is stored of its position: up to this number, without these.
        var kept: UInt64?
        var unfinished: [String: UnfinishedDelivery] = [:]
        /// How often storing fails.
        var storesFail = 0
        var now: Int64 = 0
        var inFlight = 0
        var inFlightMax = 0
        /// So many further messages are handed over, one with each push.
        var traffic = 0
    }

    private let state: Mutex<State>
    private let (happened, happens) = AsyncStream<String>.makeStream()
    private let loop = TaskLoop(MultiThreadedEventLoopGroup.singleton.next())
    private let hosts: String
    private let newest: UInt64

    init(
        _ waiting: [(UInt64, [PushDevice])],
        answers: [String: [(status: Int, retryAfter: Int?)]] = [:], hosts: String = "push.example",
        keptAt: UInt64? = nil, unfinished: [UnfinishedDelivery] = [], newest: UInt64 = 0,
        traffic: Int = 0, storesFail: Int = 0,
        afterPauses: [@Sendable (Stage) -> Void] = []
    ) {
        self.hosts = hosts
        self.newest = newest
        state = Mutex(
            State(
                waiting: waiting.map { entry($0, of: "a\($0)", $1) },
                answers: answers, afterPauses: afterPauses, kept: keptAt,
                unfinished: Dictionary(
                    uniqueKeysWithValues: unfinished.map { ("\($0.number) \($0.device)", $0) }),
                storesFail: storesFail, traffic: traffic))
    }

    private static func number(_ cursor: String) -> UInt64? { FeedCursor(cursor)?.seq }

    private func note(_ what: String) { happens.yield(what) }

    /// A device takes a message.
    func take(_ number: UInt64) {
        state.withLock { $0.waiting.removeAll { $0.number == number } }
    }

    /// A message is handed over.
    func add(_ number: UInt64, of account: String = "carol", _ devices: [PushDevice]) {
        state.withLock { $0.waiting.append(entry(number, of: account, devices)) }
    }

    // MARK: Reading

    final class Connection: FeedConnection, Sendable {
        let start = FeedStart.resumed
        private let stage: Stage
        private let position: Mutex<UInt64>

        init(_ stage: Stage, _ position: UInt64) {
            self.stage = stage
            self.position = Mutex(position)
        }

        /// What waits; or nothing within the time, which passes at once. When nothing more is to
        /// happen, the test ends.
        func next(within time: TimeAmount) async throws -> FeedItem? {
            try Task.checkCancellation()
            let from = position.withLock { $0 }
            let rest = stage.state.withLock { $0.waiting.filter { $0.number > from } }
            guard let last = rest.last else {
                // What is read again only asks whether there is something.
                guard time > .seconds(1) else { return nil }
                stage.note("idle")
                try await stage.waitForMore(than: from)
                return try await next(within: time)
            }
            position.withLock { $0 = last.number }
            return .undelivered(events(rest), FeedCursor(epoch: 1, seq: last.number))
        }

        func close() {}
    }

    /// Returns when there is more.
    private func waitForMore(than number: UInt64) async throws {
        while state.withLock({ $0.waiting.allSatisfy { $0.number <= number } }) {
            try Task.checkCancellation()
            await turn()
        }
    }

    /// Others run meanwhile.
    private func turn() async {
        await withCheckedContinuation { continuation in
            loop.eventLoop.execute { continuation.resume() }
        }
    }

    private func pass(_ milliseconds: Int) {
        let next: (@Sendable (Stage) -> Void)? = state.withLock { state in
            state.now += Int64(milliseconds)
            return state.afterPauses.isEmpty ? nil : state.afterPauses.removeFirst()
        }
        next?(self)
    }

    // MARK: The position

    /// What is stored of it.
    var kept: (UInt64?, [UnfinishedDelivery]) {
        state.withLock { ($0.kept, Array($0.unfinished.values)) }
    }

    private func position() -> ReaderPosition? {
        state.withLock { state in
            state.kept.map {
                ReaderPosition(
                    FeedCursor(epoch: 1, seq: $0).text, unfinished: Array(state.unfinished.values))
            }
        }
    }

    /// Notes the position, and what is not finished before it.
    private func keep(_ change: PositionChange) -> Bool {
        let left: [String]? = state.withLock { state in
            guard state.storesFail == 0 else {
                state.storesFail -= 1
                return nil
            }
            state.kept = change.cursor.flatMap(Self.number)
            for (number, device) in change.finished {
                state.unfinished["\(number) \(device)"] = nil
            }
            for each in change.begun { state.unfinished["\(each.number) \(each.device)"] = each }
            return state.unfinished.keys.sorted()
        }
        guard let left else {
            note("cannot keep")
            return false
        }
        note(
            (["keep \(change.cursor.flatMap(Self.number).map { "\($0)" } ?? "?")"] + left)
                .joined(separator: ", "))
        return true
    }

    // MARK: Sending

    func attempt(_ request: DeliveryRequest, timeoutSeconds: Int) async -> DeliveryOutcome {
        let name = String(request.url.text.split(separator: "/").last ?? "")
        let answer = state.withLock { state in
            state.inFlight += 1
            state.inFlightMax = max(state.inFlightMax, state.inFlight)
            if state.traffic > 0 {
                state.traffic -= 1
                let number = (state.waiting.last?.number ?? 0) + 1
                state.waiting.append(entry(number, [device("d\(number)")]))
            }
            guard let answers = state.answers[name], let first = answers.first else {
                return (status: 201, retryAfter: Int?.none)
            }
            if answers.count > 1 { state.answers[name]?.removeFirst() }
            return first
        }
        // Others begin meanwhile.
        await turn()
        while answer.status < 0, !Task.isCancelled { await turn() }
        state.withLock { $0.inFlight -= 1 }
        note("post \(name) \(answer.status)")
        guard answer.status > 0 else { return .noResponse("none") }
        return .response(status: answer.status, answer.retryAfter.map { .seconds($0) })
    }

    func remove(_ address: String, of device: String, of account: String) async -> Bool {
        note("remove \(device)")
        return address.contains("https://push.example/\(device)")
    }

    // MARK: A run

    /// Runs a reader until this has happened.
    func play(
        until end: String, place: Int = 0
    ) async throws -> (story: [String], counters: PushCounters, inFlightMax: Int) {
        var settings = PushSettings(
            VAPIDKey(), try #require(PushSubject("mailto:a@b")), try PushHosts(hosts), seed: 1)
        settings.retryMillisecondsMax = 0
        settings.downMillisecondsMax = 0
        let environment = PushReader.Environment(
            delivery: self, devices: self,
            positions: ReaderPositions(
                newest: FeedCursor(epoch: 1, seq: newest), load: { [self] _ in position() },
                store: { [self] _, change in keep(change) }),
            pause: { [self] milliseconds in
                // After what can happen without it.
                for _ in 0..<20 { await turn() }
                try Task.checkCancellation()
                pass(milliseconds)
            },
            milliseconds: { [self] in state.withLock { $0.now } },
            wallMilliseconds: { 60_000 }, logger: Logger(label: "test") { _ in Silent() })
        let reader = PushReader(place, settings, environment)
        let task = loop.task { [self] in
            await reader.serve { cursor in
                let position = cursor.flatMap(Self.number)
                self.note("open \(position.map { "\($0)" } ?? "-")")
                return Connection(self, position ?? 0)
            }
        }
        var story: [String] = []
        for await what in happened {
            story.append(what)
            let isDone = end == "finished" && what.hasPrefix("keep") && !what.contains(",")
            if what == end || isDone && what != "keep 0" { break }
        }
        // Before it stops, as what is interrupted has no result.
        let counters = reader.counters
        task.cancel()
        await task.value
        return (story, counters, state.withLock { $0.inFlightMax })
    }
}

private struct Silent: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.critical

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {}
}

@Suite(.timeLimit(.minutes(10))) struct `A reader of Web Push` {
    /// What was posted, in order.
    private func posts(_ story: [String]) -> [String] { story.filter { $0.hasPrefix("post") } }

    @Test func `sends to each device once, and stores its position after it`() async throws {
        let stage = Stage([(1, [device("a"), device("b")]), (2, [device("c")])])
        let (story, counters, _) = try await stage.play(until: "keep 2")
        #expect(
            story.filter { $0 != "idle" }
                == [
                    "keep 0", "open 0", "post a 201", "post b 201", "post c 201", "keep 2",
                ])
        #expect(counters.sent == 3 && counters.failures == 0)
    }

    @Test func `sends once to a browser whose tabs are devices`() async throws {
        var tab = device("a")
        tab.name = Array("b".utf8)
        let stage = Stage([(1, [device("a"), tab]), (2, [tab])])
        let (story, _, _) = try await stage.play(until: "keep 2")
        // Both messages to the same endpoint.
        #expect(posts(story) == ["post a 201", "post a 201"])
    }

    @Test func `continues at its position`() async throws {
        let stage = Stage(
            [(1, [device("a")]), (2, [device("b")])], keptAt: 1)
        let (story, _, _) = try await stage.play(until: "keep 2")
        #expect(story.first == "open 1" && posts(story) == ["post b 201"])
    }

    @Test func `begins now if nothing is stored of it`() async throws {
        let stage = Stage([(1, [device("a")]), (3, [device("b")])], newest: 2)
        let (story, _, _) = try await stage.play(until: "keep 3")
        // Also if it crashes before it has read anything.
        #expect(story.starts(with: ["keep 2", "open 2"]) && posts(story) == ["post b 201"])
    }

    @Test func `stores where it has begun as soon as that is possible`() async throws {
        let stage = Stage([], newest: 2, storesFail: 1)
        let (story, _, _) = try await stage.play(until: "keep 2")
        #expect(story.starts(with: ["cannot keep", "open 2"]) && posts(story).isEmpty)
    }

    @Test func `continues what was not finished, and repeats nothing else`() async throws {
        let messages: [(UInt64, [PushDevice])] = [
            (1, [device("a"), device("b")]), (2, [device("c")]),
            (3, [device("d")]),
        ]
        let first = Stage(messages, answers: ["b": [(503, 3_600)], "c": [(-1, nil)]])
        let before = try await first.play(until: "post d 201").story
        #expect(posts(before).sorted() == ["post a 201", "post b 503", "post d 201"])
        // What hung was interrupted.
        let (kept, unfinished) = first.kept
        #expect(kept == 3 && unfinished.map(\.device).sorted() == ["b", "c"])
        let second = Stage(messages, keptAt: kept, unfinished: unfinished)
        let (story, counters, _) = try await second.play(until: "keep 3")
        #expect(story.first == "open 3")
        #expect(posts(story).sorted() == ["post b 201", "post c 201"])
        #expect(counters.sent == 2)
    }

    @Test func `stores its position as soon as that is possible again`() async throws {
        let stage = Stage([(1, [device("a")])], keptAt: 0, storesFail: 3)
        let (story, counters, _) = try await stage.play(until: "keep 1")
        #expect(story.count { $0 == "cannot keep" } == 3 && posts(story) == ["post a 201"])
        #expect(counters.failures == 3)
    }

    @Test func `sends only to its own host`() async throws {
        let devices = [device("a"), device("b", at: "other.example")]
        let stage = Stage(
            [(1, devices), (2, [device("c", at: "evil.example")])],
            hosts: "push.example,other.example")
        let (story, counters, _) = try await stage.play(until: "keep 2", place: 1)
        #expect(posts(story) == ["post b 201"])
        #expect(counters.host == "other.example" && counters.sent == 1)
    }

    @Test func `does not send what is no subscription`() async throws {
        func device(_ address: String) -> PushDevice {
            PushDevice(
                name: [1], reach: .push,
                labels: DeviceLabels(alias: [], storedTags: [], pushAddress: Array(address.utf8)))
        }
        let stage = Stage([
            (1, [device("apns:1"), device("")]),
            (2, [device(#"{"endpoint":"https://push.example/c"}"#)]),
        ])
        #expect(posts(try await stage.play(until: "keep 2").story).isEmpty)
    }

    @Test func `sends to others while an endpoint hangs or fails`() async throws {
        for status in [-1, 0, 503, 507] {
            let stage = Stage(
                [(1, [device("bad")]), (2, [device("a")])],
                answers: ["bad": [(status, status == 503 ? 3_600 : nil)]],
                afterPauses: [
                    { $0.add(3, of: "bob", [device("b")]) },
                    { $0.add(4, of: "eve", [device("e")]) },
                ])
            let (story, counters, _) = try await stage.play(until: "post e 201")
            #expect(posts(story).filter { $0.hasSuffix("201") }.count == 3)
            #expect(counters.sent >= 2 && counters.dropped == 0)
        }
    }

    @Test func `sends to others while the endpoints of an account hang`() async throws {
        let names = (0..<20).map { "slow\($0)" }
        let stage = Stage(
            [], answers: Dictionary(uniqueKeysWithValues: names.map { ($0, [(-1, nil)]) }))
        for number in 1...UInt64(50) { stage.add(number, of: "eve", names.map { device($0) }) }
        stage.add(51, of: "bob", [device("b")])
        let (_, counters, inFlightMax) = try await stage.play(until: "post b 201")
        #expect(inFlightMax == PushLedger.inFlightOfAccountMax + 1)
        #expect(counters.failures == 0)
    }

    @Test func `waits for a push service that is down, and reads again`() async throws {
        let names = ["a", "b", "c", "d"]
        let stage = Stage(
            zip(1..., names).map { (UInt64($0), [device($1)]) },
            answers: ["a": [(503, 7)]].merging(
                names.dropFirst().map { ($0, [(503, 7), (201, nil)]) }
            ) { $1 },
            afterPauses: [{ $0.take(1) }])
        let (story, counters, _) = try await stage.play(until: "keep 4")
        // What was taken meanwhile is not sent.
        #expect(posts(story).count { $0.hasPrefix("post a") } == 1)
        #expect(counters.failures == 4 && counters.sent == 3 && counters.dropped == 0)
    }

    @Test func `repeats nothing that is finished beyond its position`() async throws {
        let stage = Stage(
            [
                (1, [device("a")]), (5, [device("b"), device("c")]),
                (7, [device("d")]),
            ],
            answers: ["b": [(500, nil), (201, nil)]])
        let (story, counters, _) = try await stage.play(until: "keep 7")
        #expect(
            posts(story) == [
                "post a 201", "post b 500", "post c 201", "post d 201", "post b 201",
            ])
        #expect(counters.sent == 4 && counters.failures == 1)
    }

    @Test func `attempts a push again though there is always something new`() async throws {
        let stage = Stage(
            [(1, [device("a"), device("b")])],
            answers: ["a": [(500, nil), (500, nil), (201, nil)]], traffic: 50)
        let (story, counters, _) = try await stage.play(until: "post a 201")
        #expect(counters.dropped == 0)
        // What is finished is not repeated.
        let sent = story.filter { $0.hasPrefix("post d") }
        #expect(Set(sent).count == sent.count)
    }

    @Test func `drops what fails eight times while others succeed`() async throws {
        let stage = Stage(
            [(1, [device("bad")])], answers: ["bad": [(500, nil)]],
            afterPauses: (0..<100).map { number in
                { $0.add(10 + number, of: "b\(number)", [device("d\(number)")]) }
            })
        // It is unfinished until then.
        let (story, counters, _) = try await stage.play(until: "finished")
        #expect(counters.dropped == 1)
        #expect(posts(story).count { $0.hasSuffix("201") } >= FailingEndpoints.attemptsMax - 1)
    }

    @Test func `drops what is rejected`() async throws {
        let stage = Stage(
            [(1, [device("a"), device("b"), device("c")])],
            answers: ["a": [(400, nil)], "b": [(413, nil)], "c": [(307, nil)]])
        let (story, counters, _) = try await stage.play(until: "keep 1")
        #expect(posts(story) == ["post a 400", "post b 413", "post c 307"])
        #expect(counters.dropped == 3 && counters.failures == 3 && counters.sent == 0)
    }

    @Test func `removes an address that is gone`() async throws {
        let stage = Stage(
            [(1, [device("a"), device("b")])],
            answers: ["a": [(410, nil)], "b": [(404, nil)]])
        let (story, counters, _) = try await stage.play(until: "keep 1")
        #expect(posts(story).sorted() == ["post a 410", "post b 404"])
        #expect(story.filter { $0.hasPrefix("remove") }.sorted() == ["remove a", "remove b"])
        #expect(counters.addressesRemoved == 2 && counters.failures == 0)
    }

    @Test func `has 32 requests in flight`() async throws {
        let stage = Stage((1...100).map { (UInt64($0), [device("d\($0)")]) })
        let (story, counters, inFlightMax) = try await stage.play(until: "keep 100")
        #expect(inFlightMax == PushSettings.inFlightMax)
        #expect(counters.sent == 100 && posts(story).count == 100)
    }
}
