import COpenSSL
import Containers
import Testing

@testable import TLSSessions

/// Changes what is in flight, by a seed.
private struct Tamperer {
    var random: SplitMix64

    mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(max(count, 1))) }

    /// What arrives instead of `bytes`.
    mutating func change(_ bytes: [UInt8]) -> [UInt8] {
        guard !bytes.isEmpty else { return bytes }
        var changed = bytes
        switch below(8) {
        case 0: changed[below(changed.count)] ^= 1 << UInt8(below(8))
        case 1: changed.removeLast(below(changed.count))
        case 2: changed.removeFirst(below(changed.count))
        case 3: changed += changed
        case 4:
            let cut = below(changed.count)
            changed = Array(changed[cut...] + changed[..<cut])
        case 5:
            for _ in 0...below(64) { changed[below(changed.count)] = UInt8(below(256)) }
        case 6:
            let junk = (0..<below(200)).map { _ in UInt8(below(256)) }
            changed.insert(contentsOf: junk, at: below(changed.count + 1))
        // A header of a record that claims a type and a length.
        default: changed.insert(contentsOf: [UInt8(20 + below(5)), 3, 3, 0, 1, 1], at: 0)
        }
        return changed
    }

    /// The bytes in pieces.
    mutating func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
        var rest = bytes[...]
        var all: [[UInt8]] = []
        while !rest.isEmpty {
            let count = 1 + below(below(4) == 0 ? 40 : rest.count)
            all.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return all
    }
}

@Suite struct `A peer that tampers` {
    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `ends sessions and never makes them deliver anything else`(version: CInt) throws {
        var setting = try Setting()
        setting.offer.most = version
        let server = try setting.serverContext()
        let client = try setting.clientContext()
        var failed = 0
        for seed: UInt64 in 0..<400 {
            var tamperer = Tamperer(random: SplitMix64(seed: seed))
            let pair = try setting.pair(server, client)
            let isTampered = play(pair, &tamperer, from: tamperer.below(12))
            // What arrives is what was sent, up to the change.
            #expect(pair.client.sent.starts(with: pair.server.received), "seed \(seed)")
            #expect(pair.server.sent.starts(with: pair.client.received), "seed \(seed)")
            for peer in [pair.client, pair.server] {
                if case .failed = peer.phase {
                    failed += 1
                    peer.send([1])
                    peer.end()
                    peer.receive(pattern(100))
                    #expect(isTampered, "seed \(seed)")
                }
            }
        }
        #expect(failed > 100)
    }

    /// Plays a conversation and changes one flight of it. Returns whether it came to that.
    private func play(_ pair: Pair, _ tamperer: inout Tamperer, from start: Int) -> Bool {
        pair.client.begin()
        var flights = 0
        for _ in 0..<12 {
            for (from, to) in [(pair.client, pair.server), (pair.server, pair.client)] {
                var bytes = from.takeOutgoing()
                if !bytes.isEmpty {
                    if flights == start { bytes = tamperer.change(bytes) }
                    flights += 1
                }
                for piece in tamperer.pieces(bytes) { to.receive(piece) }
                from.sendNext()
            }
        }
        return flights > start
    }

    @Test func `leaves no error for the next session of the thread`() throws {
        let setting = try Setting()
        let server = try setting.serverContext()
        let client = try setting.clientContext()
        let healthy = try setting.connect(server, client)
        for seed: UInt64 in 0..<50 {
            var tamperer = Tamperer(random: SplitMix64(seed: seed))
            let broken = try setting.pair(server, client)
            broken.client.begin()
            broken.server.receive(tamperer.change(broken.client.takeOutgoing()))
            broken.server.receive((0..<300).map { _ in UInt8(tamperer.below(256)) })
            healthy.client.send([UInt8(seed)])
            healthy.exchange()
            #expect(healthy.server.takeReceived() == [UInt8(seed)], "seed \(seed)")
        }
    }

    @Test func `cannot send anything in the clear after the handshake`() throws {
        for version in [TLS1_2_VERSION, TLS1_3_VERSION] {
            var setting = try Setting()
            setting.offer.most = version
            let pair = try setting.connect()
            pair.server.receive([23, 3, 3, 0, 4, 0, 0, 0, 0])
            #expect(pair.server.received.isEmpty)
            guard case .failed = pair.server.phase else {
                Issue.record("\(pair.server.phase)")
                continue
            }
        }
    }
}
