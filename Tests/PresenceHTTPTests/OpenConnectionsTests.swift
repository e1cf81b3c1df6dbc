import Containers
import Testing

@testable import PresenceHTTP

/// Open connections by their names.
private struct Table: ~Copyable {
    private var open: OpenConnections<String>
    private var slots: [String: Int] = [:]
    var count: Int { open.count }
    var all: [String] { open.all.sorted() }

    init(connectionsMax: Int, perNetworkMax: Int) {
        open = OpenConnections(connectionsMax: connectionsMax, perNetworkMax: perNetworkMax)
    }

    mutating func enter(_ name: String, from network: ClientNetwork?) -> String? {
        slots[name] = open.enter(name, from: network)
        return open.excess(from: network)
    }

    mutating func leave(_ name: String) {
        if let slot = slots.removeValue(forKey: name) { open.leave(slot) }
    }

    mutating func beginWaiting(_ name: String) { slots[name].map { open.beginWaiting($0) } }
    mutating func endWaiting(_ name: String) { slots[name].map { open.endWaiting($0) } }
}

@Suite struct `The open connections of HTTP` {
    private let home = ClientNetwork(address: [127, 0, 0, 1])
    private let away = ClientNetwork(address: [192, 0, 2, 1])

    @Test func `closes the connection that has been waiting longest`() {
        var table = Table(connectionsMax: 3, perNetworkMax: 3)
        let all = "abcde".map(String.init)
        for connection in all[..<3] { #expect(table.enter(connection, from: nil) == nil) }
        // a is asked something; b and c wait, b longer.
        table.endWaiting(all[0])
        #expect(table.enter(all[3], from: nil) == all[1])
        table.leave(all[1])
        // a waits again, as the last of all.
        table.beginWaiting(all[0])
        #expect(table.enter(all[4], from: nil) == all[2])
        table.leave(all[2])
        #expect(table.count == 3)
        #expect(table.enter(all[1], from: nil) == all[3])
    }

    @Test func `closes the newest when all others have a pending request`() {
        var table = Table(connectionsMax: 2, perNetworkMax: 2)
        let all = "abc".map(String.init)
        for connection in all[..<2] {
            #expect(table.enter(connection, from: home) == nil)
            table.endWaiting(connection)
        }
        #expect(table.enter(all[2], from: away) == all[2])
    }

    @Test func `closes a connection of the network that exceeds its limit`() {
        var table = Table(connectionsMax: 10, perNetworkMax: 2)
        let all = "abcd".map(String.init)
        #expect(table.enter(all[0], from: away) == nil)
        #expect(table.enter(all[1], from: home) == nil)
        #expect(table.enter(all[2], from: home) == nil)
        #expect(table.enter(all[3], from: home) == all[1])
        table.leave(all[1])
        table.leave(all[1])
        #expect(table.count == 3)
        #expect(table.enter(all[1], from: home) == all[2])
    }

    @Test func `agrees with a searched list`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("open connections seed \(seed)")
        var random = SplitMix64(seed: seed)
        var table = Table(connectionsMax: 5, perNetworkMax: 3)
        var waiting: [(connection: String, network: ClientNetwork?)] = []
        var all: [(connection: String, network: ClientNetwork?)] = []
        for number in 0..<5_000 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                let new = (
                    "\(number)", [home, away].randomElement(using: &random) ?? nil
                )
                waiting.append(new)
                all.append(new)
                let isTooManyOfNetwork = all.count { $0.network == new.1 } > 3
                let expected =
                    isTooManyOfNetwork
                    ? waiting.first { $0.network == new.1 } : all.count > 5 ? waiting.first : nil
                let given = table.enter(new.0, from: new.1)
                #expect(given == expected?.connection)
                guard let given else { continue }
                table.leave(given)
                waiting.removeAll { $0.connection == given }
                all.removeAll { $0.connection == given }
            case 2:
                guard let one = waiting.randomElement(using: &random) else { continue }
                table.endWaiting(one.connection)
                waiting.removeAll { $0.connection == one.connection }
            default:
                guard let one = all.randomElement(using: &random) else { continue }
                if waiting.contains(where: { $0.connection == one.connection }) {
                    table.leave(one.connection)
                    waiting.removeAll { $0.connection == one.connection }
                    all.removeAll { $0.connection == one.connection }
                } else {
                    table.beginWaiting(one.connection)
                    waiting.append(one)
                }
            }
            #expect(table.all == all.map(\.connection).sorted())
        }
    }
}
