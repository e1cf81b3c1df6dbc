import Containers
import EventLoop
import TestSupport
import Testing

@testable import SecureLoop
@testable import TLSSessions

@Suite struct `A secure loop` {
    @Test func `carries plaintext between its owner and a client`() throws {
        let world = try World(Setting())
        defer { world.close() }
        let id = try world.connect()
        world.run { world.secure.counters.handshakes == 1 }
        world.send(Array("hello".utf8), from: id)
        let peer = try world.client(id)
        world.run { peer.received.count == 5 }
        #expect(peer.received == Array("hello".utf8))
        #expect(world.received[world.accepted[0]] == Array("hello".utf8))
        #expect(world.secure.counters.inProgress == 0)
        #expect(world.secure.counters.times.count == 1)
    }

    @Test func `delivers what comes together with the end of the handshake`() throws {
        let world = try World(Setting())
        defer { world.close() }
        let id = try world.connect()
        let peer = try world.client(id)
        world.run { peer.phase == .open }
        // Sent in the same turn as the Finished, or in the next: it makes no difference.
        world.send(Array("early".utf8), from: id)
        world.run { peer.received.count == 5 }
    }

    @Test func `encrypts a stream that was plain`() throws {
        let world = try World(Setting())
        defer { world.close() }
        let id = try world.connectPlainly()
        world.run { world.accepted.count == 1 && world.connected.contains(id) }
        world.send(Array("plain".utf8), from: id)
        world.run { world.raw[id]?.count == 5 }
        let server = world.accepted[0]
        world.secure.stopReading(server)
        world.secure.startTLS(server, listener: 0)
        world.secure.startReading(server)
        let peer = try world.beginTLS(client: id)
        world.run { world.secure.counters.handshakes == 1 }
        world.send(Array("hello".utf8), from: id)
        world.run { peer.received.count == 5 }
        #expect(world.received[server] == Array("plainhello".utf8))
    }

    @Test func `takes nothing for encrypted that was sent before`() throws {
        let world = try World(Setting())
        defer { world.close() }
        let id = try world.connectPlainly()
        world.run { world.accepted.count == 1 && world.connected.contains(id) }
        let server = world.accepted[0]
        world.secure.stopReading(server)
        world.send(Array("<iq type='set' id='injected'/>".utf8), from: id)
        world.settle()
        world.secure.startTLS(server, listener: 0)
        world.secure.startReading(server)
        world.run { world.closed.contains(server) }
        #expect(world.received.isEmpty)
        #expect(world.secure.counters.count(of: .notTLS) == 1)
    }

    @Test func `serves many clients, and resumes sessions`() throws {
        var limits = SecureLoop.Limits()
        limits.handshakesMax = 4
        let world = try World(
            Setting(), limits: limits, threads: HandshakeThreads(count: 3))
        defer { world.close() }
        let ids = try (0..<60).map { _ in try world.connect() }
        world.run { world.secure.counters.handshakes == 60 }
        for id in ids { world.send(Array("\(id.slot)".utf8), from: id) }
        let peers = try ids.map(world.client)
        world.run { peers.allSatisfy { !$0.received.isEmpty } }
        for (id, peer) in zip(ids, peers) { #expect(peer.received == Array("\(id.slot)".utf8)) }
        let ticket = try #require(peers[0].resumption)
        _ = try world.connect(resuming: ticket)
        world.run { world.secure.counters.handshakes == 61 }
        #expect(world.secure.counters.resumed == 1)
        #expect(world.secure.counters.waiting == 0 && world.secure.counters.inProgress == 0)
    }

    @Test func `carries megabytes, and reports when they are drained`() throws {
        let world = try World(Setting())
        defer { world.close() }
        world.echoes = false
        let id = try world.connect()
        let peer = try world.client(id)
        world.run { world.secure.counters.handshakes == 1 && peer.phase == .open }
        let bytes = [UInt8](repeating: 7, count: 8 << 20)
        world.stopReading(client: id)
        let outcome = bytes.withUnsafeBytes { world.secure.write(world.accepted[0], $0) }
        guard case .pending = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(world.secure.bytesPending(world.accepted[0]) > 0)
        world.startReading(client: id)
        world.run { world.drained == 1 && peer.received.count == bytes.count }
        #expect(peer.received == bytes)
    }

    @Test func `makes no object of OpenSSL for half a hello`() throws {
        let world = try World(Setting())
        defer { world.close() }
        let id = try world.connect(speaksTLS: false)
        world.run { world.connected.contains(id) && world.accepted.count == 1 }
        let pair = try world.setting.pair()
        pair.client.begin()
        let hello = pair.client.takeOutgoing()
        world.send(Array(hello.dropLast(9)), from: id)
        let stream = try #require(world.secure.find(world.accepted[0]))
        world.run { stream.reader?.bytes.count == hello.count - 9 }
        #expect(stream.handshake == nil)
        #expect(world.secure.counters.inProgress == 0)
        world.send(Array(hello.suffix(9)), from: id)
        world.run { world.raw[id] != nil }
        #expect(world.secure.counters.inProgress == 1)
        world.closeClient(id)
        world.run { world.closed.count == 1 }
        #expect(world.secure.counters.inProgress == 0)
    }

    @Test func `ends a stream that is not TLS`() throws {
        let world = try World(Setting())
        defer { world.close() }
        let id = try world.connect(speaksTLS: false)
        world.run { world.connected.contains(id) }
        world.send(Array("GET / HTTP/1.1\r\n\r\n".utf8), from: id)
        world.run { world.closed.count == 1 && world.clientEnds.contains(id) }
        #expect(world.secure.counters.count(of: .notTLS) == 1)
        #expect(world.ends[world.accepted[0]] == .failed(SecureLoop.broken))
        #expect(world.received.isEmpty)
    }

    @Test func `answers a stream that is not TLS`() throws {
        let world = try World(Setting()) { Array("\($0) on \($1)".utf8) }
        defer { world.close() }
        let id = try world.connect(speaksTLS: false)
        world.run { world.connected.contains(id) }
        world.send(Array("{}".utf8), from: id)
        world.run { world.closed.count == 1 && world.clientEnds.contains(id) }
        #expect(world.raw[id].map { String(decoding: $0, as: UTF8.self) } == "123 on 1")
        #expect(world.secure.counters.count(of: .notTLS) == 1)
        #expect(world.received.isEmpty)
    }

    @Test func `sends an alert before it closes`() throws {
        var setting = try Setting()
        setting.offer.applicationProtocols = ["h2"]
        let world = try World(setting)
        defer { world.close() }
        let id = try world.connect()
        let peer = try world.client(id)
        world.run { peer.phase == .failed(.noSharedProtocol) && world.closed.count == 1 }
        #expect(world.secure.counters.count(of: .noSharedProtocol) == 1)
        #expect(world.secure.counters.inProgress == 0)
    }

    @Test func `takes close_notify as the end of input, and sends its own`() throws {
        let world = try World(Setting())
        defer { world.close() }
        let id = try world.connect()
        let peer = try world.client(id)
        world.run { world.secure.counters.handshakes == 1 }
        world.send(Array("last".utf8), from: id)
        try world.endClient(id)
        world.run { world.ends.count == 1 && peer.phase == .peerEnded }
        #expect(world.ends[world.accepted[0]] == .endOfFile)
        #expect(peer.received == Array("last".utf8))
    }

    @Test func `reports the end when its owner reads again`() throws {
        let world = try World(Setting())
        defer { world.close() }
        world.stopsAfterReading = true
        let id = try world.connect()
        world.run { world.secure.counters.handshakes == 1 }
        // In one write, so that both arrive together.
        try world.client(id).end(after: Array("last".utf8))
        world.flush(id)
        let server = world.accepted[0]
        world.run { world.received[server] != nil }
        world.settle()
        #expect(world.ends.isEmpty)
        world.secure.startReading(server)
        world.run { world.ends.count == 1 }
        #expect(world.ends[server] == .endOfFile)
    }

    /// A client that provokes answers of TLS itself and does not read can fill the kernel's buffer
    /// with them: the owner knows nothing of that, and writes.
    @Test(arguments: [false, true])
    func `keeps what its owner writes while TLS itself waits`(isClosed: Bool) throws {
        let world = try World(Setting())
        defer { world.close() }
        let id = try world.connect()
        world.run { world.secure.counters.handshakes == 1 }
        let server = world.accepted[0]
        try #require(world.secure.find(server)).isBlocked = true
        let text = Array("to be continued".utf8)
        let outcome = text.withUnsafeBytes { world.secure.write(server, $0) }
        guard case .pending = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(world.secure.bytesPending(server) > text.count)
        if isClosed { world.secure.closeAfterWrites(server) }
        world.secure.streamDrained(server)
        let peer = try world.client(id)
        world.run { peer.received == text }
        #expect(world.drained == (isClosed ? 0 : 1))
        if isClosed { world.run { peer.phase == .peerEnded || world.clientEnds.contains(id) } }
    }

    @Test func `drops the slowest client when others wait`() throws {
        var limits = SecureLoop.Limits()
        limits.handshakesMax = 3
        limits.patienceMilliseconds = 50
        let world = try World(Setting(), limits: limits)
        defer { world.close() }
        for _ in 0..<3 { _ = try world.connect(isSilent: true) }
        world.run { world.secure.counters.inProgress == 3 }
        let id = try world.connect()
        let peer = try world.client(id)
        world.run { peer.phase == .open && world.secure.counters.handshakes == 1 }
        #expect(world.secure.counters.dropped == 1)
        #expect(world.ends.count == 1)
        #expect(world.timerFirings == 0, "the owner's deadline is its own")
    }

    @Test func `rejects hellos beyond those that may wait`() throws {
        var limits = SecureLoop.Limits()
        limits.handshakesMax = 1
        limits.waitingMax = 2
        limits.patienceMilliseconds = 1_000_000
        let world = try World(Setting(), limits: limits)
        defer { world.close() }
        _ = try world.connect(isSilent: true)
        world.run { world.secure.counters.inProgress == 1 }
        for _ in 0..<5 { _ = try world.connect() }
        world.run { world.secure.counters.rejected == 3 }
        #expect(world.secure.counters.waiting == 2 && world.secure.counters.inProgress == 1)
    }

    @Test func `uses a new context for new connections only`() throws {
        var setting = try Setting()
        let world = try World(setting)
        defer { world.close() }
        let old = try world.connect()
        let oldPeer = try world.client(old)
        world.run { world.secure.counters.handshakes == 1 && oldPeer.phase == .open }
        setting.files = [TestPEM.files(TestPEM.second, TestPEM.secondKey)]
        world.secure.context = try setting.serverContext()
        let new = try world.connect()
        let newPeer = try world.client(new)
        // It expects the name of the old certificate.
        world.run { newPeer.phase == .failed(.certificate) }
        world.send([1], from: old)
        world.run { oldPeer.received == [1] }
    }

    @Test func `drops what its owner writes before there is a key`() throws {
        let world = try World(Setting())
        defer { world.close() }
        let id = try world.connect(speaksTLS: false)
        world.run { world.connected.contains(id) && world.accepted.count == 1 }
        let bytes: [UInt8] = [1, 2, 3]
        #expect(bytes.withUnsafeBytes { world.secure.write(world.accepted[0], $0) } == .written)
        world.secure.closeAfterWrites(world.accepted[0])
        world.run { world.clientEnds.contains(id) }
        #expect(world.raw.isEmpty)
    }

    @Test func `leaves the streams of other listeners alone`() throws {
        let world = try World(Setting())
        defer { world.close() }
        let id = try world.connectPlainly()
        world.run { world.connected.contains(id) }
        world.send(Array("plain".utf8), from: id)
        world.run { world.raw[id] == Array("plain".utf8) }
    }

    // MARK: Several loops

    @Test(arguments: [0, 1])
    func `encrypts sockets that it adopts from a listener for TLS`(listener: Int) throws {
        let world = try World(Setting())
        defer { world.close() }
        world.adopts = true
        let id = try listener == 1 ? world.connect() : world.connectPlainly()
        world.run { world.connected.contains(id) && world.accepted.count == 1 }
        #expect((world.secure.find(world.accepted[0]) != nil) == (listener == 1))
        if listener == 1 { world.run { world.secure.counters.handshakes == 1 } }
        world.send(Array("adopted".utf8), from: id)
        world.run { world.received[world.accepted[0]] == Array("adopted".utf8) }
    }

    @Test func `resumes sessions of other loops, also after their keys were replaced`() throws {
        let setting = try Setting()
        let threads = HandshakeThreads(count: 2)
        let worlds = try (0..<3).map { _ in try World(setting, threads: threads) }
        defer { for world in worlds { world.close() } }
        let id = try worlds[0].connect()
        let peer = try worlds[0].client(id)
        worlds[0].run { worlds[0].secure.counters.handshakes == 1 && peer.phase == .open }
        worlds[0].send([1], from: id)
        worlds[0].run { !peer.received.isEmpty }
        let ticket = try #require(peer.resumption)

        _ = try worlds[2].connect(resuming: ticket)
        worlds[2].run { worlds[2].secure.counters.resumed == 1 }
        // Each loop has a timer for this. The first one replaces the keys for all.
        let due = (TLSTicketKeys.rotationSeconds + 1) * 1_000
        for world in worlds { world.secure.rotateTickets(at: due) }
        #expect(setting.tickets.count == 2)
        let deadlines = Set(worlds.map(\.secure.deadlines.rotation))
        #expect(deadlines.count == 1)
        _ = try worlds[1].connect(resuming: ticket)
        worlds[1].run { worlds[1].secure.counters.resumed == 1 }
    }
}
