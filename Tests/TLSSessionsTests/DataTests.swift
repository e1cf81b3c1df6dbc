import COpenSSL
import Testing

@testable import TLSSessions

@Suite struct `An open session` {
    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `carries a megabyte both ways`(version: CInt) throws {
        var setting = try Setting()
        setting.offer.most = version
        let pair = try setting.connect()
        let bytes = pattern(1 << 20)
        pair.client.send(bytes)
        pair.server.send(bytes)
        pair.exchange()
        #expect(pair.server.received == bytes)
        #expect(pair.client.received == bytes)
        // 64 records of 16 KiB each way, with at most 29 bytes more for each.
        pair.server.send(bytes)
        let count = pair.server.takeOutgoing().count
        #expect((bytes.count + 64 * 22...bytes.count + 64 * 29).contains(count))
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `reads ciphertext that arrives byte by byte`(version: CInt) throws {
        var setting = try Setting()
        setting.offer.most = version
        let pair = try setting.pair()
        pair.client.begin()
        for _ in 0..<5 {
            for byte in pair.client.takeOutgoing() { pair.server.receive([byte]) }
            for byte in pair.server.takeOutgoing() { pair.client.receive([byte]) }
        }
        #expect(pair.isOpen)
        pair.client.send(pattern(300))
        for byte in pair.client.takeOutgoing() { pair.server.receive([byte]) }
        #expect(pair.server.received == pattern(300))
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `still sends after the peer has ended`(version: CInt) throws {
        var setting = try Setting()
        setting.offer.most = version
        let pair = try setting.connect()
        pair.client.send(Array("last".utf8))
        pair.client.end()
        pair.exchange()
        #expect(pair.server.received == Array("last".utf8))
        #expect(pair.server.phase == .peerEnded)
        pair.server.send(pattern(20_000))
        pair.exchange()
        #expect(pair.client.received == pattern(20_000))
        #expect(pair.client.phase == .open)
        pair.server.end()
        pair.exchange()
        #expect(pair.client.phase == .peerEnded)
    }

    @Test func `sends nothing after its end, and ends once`() throws {
        let pair = try Setting().connect()
        pair.server.end()
        let end = pair.server.takeOutgoing()
        #expect(!end.isEmpty)
        pair.server.end()
        pair.server.send([1])
        #expect(pair.server.outgoing.isEmpty)
        pair.client.receive(end)
        #expect(pair.client.phase == .peerEnded)
    }

    @Test func `sends nothing before the handshake is over`() throws {
        let pair = try Setting().pair()
        pair.server.send([1])
        pair.server.end()
        #expect(pair.server.outgoing.isEmpty)
        #expect(pair.server.phase == .handshaking)
    }

    @Test func `allows its peer a thousand new keys`() throws {
        var setting = try Setting()
        setting.offer.recordsPerKey = 0
        let pair = try setting.connect()
        for _ in 0..<1_000 {
            pair.client.send([7])
            pair.exchange()
        }
        #expect(pair.isOpen)
        #expect(pair.server.received.count == 1_000)
    }

    @Test func `ends when its peer changes the key again and again`() throws {
        var setting = try Setting()
        setting.offer.recordsPerKey = 0
        let pair = try setting.connect()
        for _ in 0..<1_200 { pair.client.send([7]) }
        pair.server.receive(pair.client.takeOutgoing())
        #expect(pair.server.phase == .failed(.tooManyMessages))
        #expect((1_080...1_100).contains(pair.server.received.count))
    }

    @Test func `changes its own key before it has served too long`() throws {
        var setting = try Setting()
        setting.serverRecordsPerKey = 3
        let pair = try setting.connect()
        for _ in 0..<5_000 {
            pair.server.send(pattern(100))
            pair.client.receive(pair.server.takeOutgoing())
            // The client stops after a thousand changes, which in truth are 2^33 records.
            guard pair.client.phase == .open else { break }
        }
        #expect(pair.client.phase == .failed(.tooManyMessages))
        #expect(pair.server.phase == .open, "its own messages do not count")
        #expect(pair.client.received.count > 100 * 3 * 1_000)
    }
}
