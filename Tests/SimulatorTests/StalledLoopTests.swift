import Connections
import EventLoop
import Logging
import PresenceCore
import Testing

@testable import PresenceServer

/// Messages that must not be lost, for connections of a stalled loop: what causes them
/// comes from other loops and goes on.
@Suite struct `What waits for a stalled loop` {
    private typealias Host = EngineHost<SimulatedDisk, SimulatedNetwork>
    private let now = Moment(mono: Mono(milliseconds: 1_000), wall: Wall(milliseconds: 1_000))
    private static let backlogBytesMax = 200_000
    private static let loops = (0..<2).map { LoopNumber(index: $0, of: 2) }
    private let network = SimulatedNetwork()

    /// Two connection loops; the second is stalled.
    private func host(_ adjust: (inout Configuration) -> Void = { _ in }) -> Host {
        var configuration = Configuration()
        configuration.switchOffPace()
        configuration.connection.backlogBytesMax = Self.backlogBytesMax
        adjust(&configuration)
        var host = Host(
            configuration,
            engine: Engine(settings: configuration.engine, at: now, seed: 1),
            heard: [HeardTable(), HeardTable()], store: SimulatedDisk(), resources: network,
            logger: Logger(label: "test"), seed: 1, at: now)
        host.stalled.stall(1)
        return host
    }

    /// A session on a loop.
    private func logIn(
        _ account: String, _ client: ClientKind = .ios, on loop: Int, slot: UInt32,
        _ host: inout Host
    ) -> ConnectionID {
        let connection = Self.loops[loop].connection(StreamID(slot: slot, generation: 1))
        let login = Login(
            account: Array(account.utf8), device: Array("d\(slot)".utf8), client: client,
            sync: .none, hears: .all, address: [])
        if client == .xmpp { host.output.stanzaReceivers.insert(connection.slot) }
        host.engine.logIn(login, from: connection, at: now, into: &host.output.shared.effects)
        host.sort(at: now)
        return connection
    }

    private func carryOut(
        from connection: ConnectionID, _ host: inout Host, _ make: (inout RequestTexts) -> Command
    ) {
        var texts = RequestTexts()
        let command = make(&texts)
        guard
            let command = try? host.engine.authorise(command, texts.ofLast, from: connection)
        else {
            Issue.record("no permission")
            return
        }
        host.engine.handle(
            command, texts.ofLast, at: now, into: &host.output.shared.effects)
        for item in host.output.shared.effects.items {
            guard case .persist(let ticket?, _) = item else { continue }
            host.engine.committed(ticket, at: now, into: &host.output.shared.effects)
        }
        host.sort(at: now)
    }

    /// What the stalled loop is handed: its size, and the connections that it closes.
    private struct Handed {
        var byteCount = 0
        var closed: [ConnectionID] = []

        mutating func take(_ parts: ArraySlice<SealedOutbound>) {
            byteCount += parts[1].byteCount
            for case .caller(let connection, .close(.tooSlow, _)) in parts[1].own.items {
                closed.append(connection)
            }
        }
    }

    /// A session on the first loop changes its list; another of its account is on the second.
    @Test(arguments: [ClientKind.ios, .xmpp])
    func `is bounded for each connection, which is closed beyond`(client: ClientKind) {
        var host = host()
        let active = logIn("alice", on: 0, slot: 1, &host)
        let still = logIn("alice", client, on: 1, slot: 2, &host)
        var handed = Handed()
        handed.take(host.handOver())
        for number in 0..<2_000 {
            let name = Array(String(repeating: "a", count: 200).utf8) + [48 + UInt8(number % 2)]
            carryOut(from: active, &host) { texts in
                .relate(
                    account: nil, contact: texts.add(Array("carol".utf8)),
                    .describe(ContactLabel(name: name, groups: []) ?? .none))
            }
            handed.take(host.handOver())
        }
        #expect(handed.closed == [still])
        #expect(handed.byteCount < 2 * Self.backlogBytesMax)
        // When the loop has continued, it keeps its clients' messages by itself.
        host.stalled.release(1)
        host.stalled.stall(1)
        carryOut(from: active, &host) { texts in
            .relate(account: nil, contact: texts.add(Array("carol".utf8)), .remove)
        }
        let items = host.handOver()[1].own.items
        #expect(items.count == 1)
        if case .caller(_, .close) = items.first { Issue.record("closed again") }
    }

    /// A stranger presents itself and takes leave, again and again.
    @Test func `of ends of directed presence is bounded, and brief`() {
        var host = host()
        let stranger = logIn("mallory", .xmpp, on: 0, slot: 1, &host)
        let still = logIn("alice", .xmpp, on: 1, slot: 2, &host)
        var handed = Handed()
        handed.take(host.handOver())
        var first: Int?
        for _ in 0..<4_000 {
            let text = Array(repeating: UInt8(ascii: "a"), count: 1_000)
            for presentation in [
                Presentation.available(Availability()),
                .unavailable(farewell: Availability(text: text)),
            ] {
                carryOut(from: stranger, &host) { texts in
                    .direct(
                        Direct(
                            account: texts.add(Array("alice".utf8)), device: nil,
                            presentation: presentation))
                }
            }
            let before = handed.byteCount
            handed.take(host.handOver())
            first = first ?? handed.byteCount - before
        }
        #expect(first ?? .max < 500)
        #expect(handed.closed == [still])
        #expect(handed.byteCount < 2 * Self.backlogBytesMax)
    }

    @Test func `is bounded for the loop`() {
        var host = host { $0.connection.outboxBytesInAllMax = 2 * 50_000 }
        let stranger = logIn("mallory", .xmpp, on: 0, slot: 1, &host)
        let receivers = (0..<8).map {
            logIn("alice", .xmpp, on: 1, slot: UInt32(2 + $0), &host)
        }
        var handed = Handed()
        handed.take(host.handOver())
        let before = handed.byteCount
        for _ in 0..<2_000 {
            carryOut(from: stranger, &host) { texts in
                .direct(
                    Direct(
                        account: texts.add(Array("alice".utf8)), device: nil,
                        presentation: .unavailable(farewell: Availability())))
            }
            handed.take(host.handOver())
        }
        #expect(Set(handed.closed) == Set(receivers))
        #expect(handed.closed.count == receivers.count)
        #expect(handed.byteCount - before < 2 * 50_000)
    }

    /// Buffers are given back every few seconds while there is activity.
    @Test func `does not grow with time`() {
        var host = host()
        var (handed, others) = (Handed(), 0)
        for second in 0..<1_000 {
            let milliseconds = UInt64(1_000 + 1_000 * second)
            let now = Moment(
                mono: Mono(milliseconds: milliseconds), wall: Wall(milliseconds: 1_000))
            host.memory.noteActivity()
            host.advance(to: now, heardUpTo: now.mono)
            host.endTurn(at: now)
            let parts = host.handOver()
            for case .loop(.trim) in parts[0].own.items { others += 1 }
            handed.take(parts)
            #expect(parts[1].isEmpty)
        }
        #expect(others > 100)
    }
}

extension StalledLoops {
    /// Makes a loop stalled.
    mutating func stall(_ loop: Int) {
        let full = LinkBox.Backlog(unreleased: LinkBox.Amount(turns: Self.turnsMax, bytes: 0))
        _ = note(full, of: loop, at: Mono(milliseconds: 0))
        _ = note(full, of: loop, at: Mono(milliseconds: Self.stallMilliseconds))
    }

    /// Makes a loop work again.
    mutating func release(_ loop: Int) {
        _ = note(LinkBox.Backlog(), of: loop, at: Mono(milliseconds: 0))
    }
}
