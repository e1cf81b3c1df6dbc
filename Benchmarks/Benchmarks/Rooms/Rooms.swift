import Benchmark
import Containers
import PresenceCore
import PresenceWire

/// What the hot rooms cost by themselves. Each iteration is a thousand operations.
let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = Benchmark.Configuration(
        metrics: [.throughput], scalingFactor: .kilo,
        maxDuration: .seconds(2))

    Benchmark("wheel: schedule and fire") { benchmark in
        var wheel = TimingWheel(now: 0)
        var now: UInt64 = 0
        for number in benchmark.scaledIterations {
            _ = wheel.schedule(UInt64(number), at: now + 30_000)
            now += 20
            while let due = wheel.popDue(now: now) { blackHole(due) }
        }
    }

    Benchmark("names: intern and find") { benchmark in
        var names = NameTable(seed: 1)
        for number in benchmark.scaledIterations {
            let name = Array("account-\(number)".utf8)
            blackHole(names.intern(name.span))
            blackHole(names.find(name.span))
        }
    }

    Benchmark("engine: an event to 100 watchers") { benchmark in
        var world = Population(watchers: 100)
        benchmark.startMeasurement()
        for _ in 0..<benchmark.scaledIterations.count / 100 { world.publish() }
    }

    Benchmark("engine: subscribe to 100 publishers") { benchmark in
        var world = Population(watchers: 1)
        benchmark.startMeasurement()
        for _ in 0..<benchmark.scaledIterations.count / 100 { world.subscribe() }
    }

    Benchmark("wire: decode a subscribe to 100") { benchmark in
        var decoder = RequestDecoder()
        let names = (0..<100).map { "\"publisher-\($0)\"" }.joined(separator: ",")
        let body = Array(
            (#"{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"type":1,"expiry":60,"#
                + #""publishers":["# + names + "]}}").utf8)
        benchmark.startMeasurement()
        for _ in 0..<benchmark.scaledIterations.count / 100 {
            if case .failure(let fault) = decoder.decode(body.span.bytes) {
                benchmark.error("refused: \(fault)")
            }
        }
    }

    Benchmark("wire: encode an event") { benchmark in
        var world = Population(watchers: 1)
        let effects = world.publishedEffects()
        var frame: [UInt8] = []
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations {
            frame.removeAll(keepingCapacity: true)
            frame.appendEventFrame(effects.events[0], in: effects)
        }
        blackHole(frame)
    }
}

/// A publisher and those who watch him, all online.
struct Population: ~Copyable {
    private var engine: Engine
    private var effects = Effects()
    private let publisher = ConnectionID(slot: 0, generation: 1)
    private let now = Moment(
        mono: Mono(milliseconds: 1_000), wall: Wall(milliseconds: 1_763_700_000_000))
    private var value: Int32 = 10_000

    init(watchers: Int) {
        engine = Engine(settings: Settings(), at: now, seed: 1)
        login("publisher", on: publisher)
        for number in 1...watchers {
            let connection = ConnectionID(slot: UInt32(number), generation: 1)
            login("watcher-\(number)", on: connection)
            subscribe(to: ["publisher"], from: connection)
        }
    }

    private mutating func account(_ name: String) -> AccountHandle {
        guard let handle = engine.intern(Array(name.utf8).span) else {
            preconditionFailure("no room for \(name)")
        }
        return handle
    }

    private mutating func login(_ name: String, on connection: ConnectionID) {
        let login = Login(account: account(name), device: Array("d1".utf8), client: .ios)
        handle(.login(login), from: connection)
    }

    private mutating func handle(_ command: Command, from connection: ConnectionID) {
        engine.handle(command, from: connection, at: now, into: &effects)
        for case .persist(let ticket?, _) in effects.items {
            effects.removeAll()
            engine.committed(ticket, at: now, into: &effects)
        }
        effects.removeAll()
    }

    private mutating func subscribe(to names: [String], from connection: ConnectionID) {
        let publishers = names.map { name in
            guard let handle = engine.intern(Array(name.utf8).span) else {
                preconditionFailure("no room for \(name)")
            }
            return handle
        }
        handle(
            .subscribe(Subscribe(type: .presence, expirySeconds: 3_600, publishers: publishers)),
            from: connection)
    }

    mutating func subscribe() {
        subscribe(
            to: (0..<100).map { "publisher-\($0)" }, from: ConnectionID(slot: 1, generation: 1))
    }

    mutating func publish() {
        value = value == 20_000 ? 10_000 : value + 1
        handle(
            .publish(Publish(type: .presence, value: value, expirySeconds: 3_600)),
            from: publisher)
    }

    mutating func publishedEffects() -> Effects {
        var effects = Effects()
        engine.handle(
            .publish(Publish(type: .presence, value: 10_001, expirySeconds: 3_600)),
            from: publisher, at: now, into: &effects)
        return effects
    }
}
