import Connections
import Containers
import EventLoop
import Logging
import PresenceCore
import Testing

@testable import PresenceServer

/// The engine host of several connection loops, whose process is suspended while devices return.
@Suite struct `The engine host after a suspension` {
    private typealias Host = EngineHost<SimulatedDisk, SimulatedNetwork>

    /// What the loops hand over after the process has continued: a device has returned.
    private struct Return {
        var device: UInt32
        var time: UInt64
    }

    /// Turns of an engine host, as `EngineDriver` makes them.
    private struct World: ~Copyable {
        static let graceSeconds = 5
        private static let start: UInt64 = 1_000
        private let disk = SimulatedDisk()
        private var host: Host
        private var gate: DeadlineGate
        private var generations: [UInt32: UInt32] = [:]
        private(set) var now = Self.start
        private var wake: UInt64?

        init(seed: UInt64) {
            var configuration = Configuration()
            configuration.switchOffPace()
            configuration.engine.disconnectGraceSeconds = Self.graceSeconds
            let now = Moment(
                mono: Mono(milliseconds: Self.start), wall: Wall(milliseconds: 1_000))
            host = Host(
                configuration, engine: Engine(settings: configuration.engine, at: now, seed: seed),
                heard: [HeardTable(), HeardTable()], store: disk, resources: SimulatedNetwork(),
                logger: Logger(label: "test"), seed: seed, at: now)
            gate = DeadlineGate(at: now.mono)
            host.begin(at: now) {}
            host.report(disk.settle(isFailing: false), at: now)
            host.listening(nil, at: now)
        }

        /// Disconnect events so far.
        var disconnects: Int { host.engine.tallies.events(.disconnect) }

        private var moment: Moment {
            Moment(mono: Mono(milliseconds: now), wall: Wall(milliseconds: Int64(now)))
        }

        private func connection(_ device: UInt32) -> ConnectionID {
            LoopNumber(index: Int(device % 2), of: 2).connection(
                StreamID(slot: device, generation: generations[device] ?? 0))
        }

        mutating func logIn(_ device: UInt32) {
            generations[device, default: 0] += 1
            let login = Login(
                account: Array("a\(device)".utf8), device: Array("d".utf8), client: .ios,
                sync: .none, hears: .all, address: [])
            host.engine.logIn(
                login, from: connection(device), at: moment, into: &host.output.shared.effects)
            host.sort(at: moment)
        }

        mutating func lose(_ device: UInt32) {
            var inbound = Inbound()
            inbound.append(
                .lost(
                    LostConnection(
                        connection: connection(device), end: .lost, lastHeard: moment.mono,
                        unsentBytes: 0)))
            host.take(inbound, at: moment)
        }

        /// The process does not run until `end`.
        mutating func suspend(until end: UInt64) { now = end }

        mutating func run(until end: UInt64, _ returns: [Return] = []) {
            var returns = returns.sorted { $0.time < $1.time }
            turn(&returns)
            while now < end {
                now = min(end, max(now + 1, min(wake ?? end, returns.first?.time ?? end)))
                turn(&returns)
            }
        }

        private mutating func turn(_ returns: inout [Return]) {
            gate.beginTurn(at: moment.mono)
            while let first = returns.first, first.time <= now {
                logIn(first.device)
                returns.removeFirst()
            }
            host.report(disk.settle(isFailing: false), at: moment)
            host.advance(to: moment, heardUpTo: gate.heardUpTo)
            host.endTurn(at: moment)
            _ = host.handOver()
            gate.endTurn(heardUpTo: moment.mono)
            let next =
                host.isBusy ? moment.mono : gate.wake(for: host.nextDeadline(at: moment))
            gate.wait(until: next)
            wake = next?.milliseconds
        }
    }

    /// Loops have handed over by then what had arrived.
    private static let readMilliseconds =
        DeadlineGate.holdMilliseconds - DeadlineGate.lateMilliseconds

    @Test(arguments: 1...40)
    func `shows no device offline that has returned in time, and all others`(seed: Int) {
        print("suspension seed \(seed)")
        var random = SplitMix64(seed: UInt64(seed))
        var world = World(seed: UInt64(seed))
        let devices: [UInt32] = Array(0..<40)
        for device in devices { world.logIn(device) }
        world.run(until: world.now + 10)
        let begin = world.now
        var lost: [UInt32] = []
        for device in devices where Bool.random(using: &random) {
            world.run(until: world.now + UInt64.random(in: 1...80, using: &random))
            world.lose(device)
            lost.append(device)
        }
        world.run(until: begin + UInt64.random(in: 3_200...4_900, using: &random))
        #expect(world.disconnects == 0)
        // Suspended until every grace is over, or most of them are.
        world.suspend(until: world.now + UInt64.random(in: 1_000...60_000, using: &random))
        let back = lost.filter { _ in Bool.random(using: &random) }
        let returns = back.map {
            Return(
                device: $0,
                time: world.now
                    + UInt64.random(in: 0..<Self.readMilliseconds, using: &random))
        }
        // Perhaps once more, before or after the loops have handed over what had arrived.
        if Bool.random(using: &random) {
            world.run(
                until: world.now + UInt64.random(in: 1..<1_500, using: &random), returns)
            let left = returns.filter { $0.time > world.now }
            let pause = UInt64.random(in: 200...60_000, using: &random)
            world.suspend(until: world.now + pause)
            let later = left.map { Return(device: $0.device, time: $0.time + pause) }
            world.run(until: world.now + 3_000, later)
        } else {
            world.run(until: world.now + 3_000, returns)
        }
        world.run(until: world.now + UInt64(World.graceSeconds) * 1_000)
        #expect(world.disconnects == lost.count - back.count)
    }
}
