import Connections
import EventLoop
import Logging
import PresenceCore
import Testing

@testable import PresenceServer

/// What a connection loop hands over at once may cause any amount of output.
@Suite struct `The input of a loop` {
    private typealias Host = EngineHost<SimulatedDisk, SimulatedNetwork>
    private let now = Moment(mono: Mono(milliseconds: 1_000), wall: Wall(milliseconds: 1_000))
    private let disk = SimulatedDisk()
    private static let contacts = 200
    private static let requests = 50
    private static let costMax = 128 << 10

    /// A service with two connection loops.
    private func host() -> Host {
        var configuration = Configuration()
        configuration.switchOffPace()
        var host = Host(
            configuration, engine: Engine(settings: configuration.engine, at: now, seed: 1),
            heard: [HeardTable(), HeardTable()], store: disk, resources: SimulatedNetwork(),
            logger: Logger(label: "test"), seed: 1, at: now)
        host.begin(at: now) {}
        host.report(disk.settle(isFailing: false), at: now)
        host.listening(nil, at: now)
        return host
    }

    /// A session on the second loop, with contacts whose list is some 60 KB.
    private func sessionWithContacts(_ host: inout Host) -> ConnectionID {
        let loop = LoopNumber(index: 1, of: 2)
        let connection = loop.connection(StreamID(slot: 1, generation: 1))
        let login = Login(
            account: Array("alice".utf8), device: Array("d".utf8), client: .ios, sync: .none,
            hears: .all, address: [])
        host.engine.logIn(login, from: connection, at: now, into: &host.output.shared.effects)
        host.sort(at: now)
        let name = Array(repeating: UInt8(ascii: "n"), count: 200)
        // A connection has one request under way.
        for number in 0..<Self.contacts {
            var inbound = Inbound()
            _ = inbound.append(commandOf: connection) { texts in
                .relate(
                    account: nil, contact: texts.add(Array("contact \(number)".utf8)),
                    .describe(ContactLabel(name: name, groups: []) ?? .none))
            }
            host.take(inbound, at: now)
            host.submit()
            host.report(disk.settle(isFailing: false), at: now)
        }
        _ = host.handOver()
        return connection
    }

    @Test func `is taken in until as much output waits, and then goes on`() {
        var host = host()
        let connection = sessionWithContacts(&host)
        var inbound = Inbound()
        for _ in 0..<Self.requests {
            _ = inbound.append(commandOf: connection) { _ in
                .contacts(account: nil, ListContacts(entriesMax: 1_000))
            }
        }
        let box = LinkBox(loop: 1, wakeHost: {}, wakeLoop: {})
        box.hand(&inbound)
        var input = LoopInput(loops: 1, at: now.mono)
        input.fill(from: [box], at: now.mono.advanced(bySeconds: 1))
        var (answers, largest, shares) = (0, 0, 0)
        while let (inbound, first) = input.next() {
            let next = host.take(
                inbound, from: first, costMax: Self.costMax, at: now)
            if let next {
                input.putBack((inbound, first: next))
                #expect(!input.isEmpty && input.heardUpTo == nil)
            }
            largest = max(largest, host.output.cost)
            shares += 1
            for case .caller(_, .answer) in host.handOver()[1].own.items { answers += 1 }
        }
        #expect(answers == Self.requests)
        #expect(shares > 10)
        #expect(largest < 2 * Self.costMax)
        #expect(input.isEmpty && input.heardUpTo == now.mono.advanced(bySeconds: 1))
    }
}
