import COpenSSL
import TestSupport
import Testing

@testable import TLSSessions

@Suite struct `A handshake` {
    @Test func `in TLS 1.3 opens a connection for data both ways`() throws {
        let pair = try Setting().connect()
        #expect(pair.isOpen)
        for peer in [pair.client, pair.server] {
            #expect(peer.version == "TLSv1.3")
            #expect(peer.cipherSuite == "TLS_AES_128_GCM_SHA256")
            #expect(peer.applicationProtocol == "porchlight")
            #expect(!peer.isResumed)
        }
        pair.client.send(Array("from the client".utf8))
        pair.server.send(Array("from the server".utf8))
        pair.exchange()
        #expect(pair.server.received == Array("from the client".utf8))
        #expect(pair.client.received == Array("from the server".utf8))
    }

    @Test(arguments: [
        ("one.example", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
        ("two.example", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
    ])
    func `in TLS 1.2 uses forward secrecy and AEAD`(name: String, suite: String) throws {
        var setting = try Setting()
        setting.files.append(TestPEM.files(TestPEM.second, TestPEM.secondKey))
        setting.offer.most = TLS1_2_VERSION
        setting.serverName = name
        let pair = try setting.connect()
        #expect(pair.isOpen)
        #expect(pair.server.version == "TLSv1.2")
        #expect(pair.server.cipherSuite == suite)
        pair.client.send(pattern(1_000))
        pair.exchange()
        #expect(pair.server.received == pattern(1_000))
    }

    @Test func `in an older version is rejected`() throws {
        var setting = try Setting()
        setting.offer.securityLevel = 0
        setting.offer.suites12 = "ALL"
        setting.offer.least = TLS1_VERSION
        setting.offer.most = TLS1_1_VERSION
        let pair = try setting.connect()
        #expect(pair.server.phase == .failed(.noSharedVersion))
        #expect(pair.client.phase == .failed(.noSharedVersion))
    }

    @Test func `in TLS 1.2 is rejected where 1.3 is the minimum`() throws {
        var setting = try Setting()
        setting.minimum = .tls13
        #expect(try setting.connect().isOpen)
        setting.offer.most = TLS1_2_VERSION
        #expect(try setting.connect().server.phase == .failed(.noSharedVersion))
    }

    @Test(arguments: ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-RSA-AES128-SHA"])
    func `without a strong cipher suite is rejected`(suite: String) throws {
        var setting = try Setting()
        setting.offer.most = TLS1_2_VERSION
        setting.offer.suites12 = suite
        #expect(try setting.connect().server.phase == .failed(.noSharedCipher))
    }

    @Test(arguments: ["X25519", "P-256", "P-384:X25519", "P-521:P-256"])
    func `uses a shared group, if necessary after a second ClientHello`(groups: String) throws {
        var setting = try Setting()
        setting.offer.groups = groups
        #expect(try setting.connect().isOpen)
    }

    @Test func `without a shared group is rejected`() throws {
        var setting = try Setting()
        setting.offer.groups = "P-384"
        #expect(try setting.connect().server.phase == .failed(.noSharedCipher))
    }

    @Test(
        arguments: [
            (["porchlight"], "porchlight"), (["http/1.1"], "http/1.1"),
            (["h2", "http/1.1"], "http/1.1"), (["http/1.1", "porchlight"], "porchlight"), ([], nil),
        ] as [([String], String?)])
    func `agrees on an application protocol`(offered: [String], chosen: String?) throws {
        var setting = try Setting()
        setting.offer.applicationProtocols = offered
        let pair = try setting.connect()
        #expect(pair.isOpen)
        #expect(pair.server.applicationProtocol == chosen)
        #expect(pair.client.applicationProtocol == chosen)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `for other application protocols is rejected`(version: CInt) throws {
        var setting = try Setting()
        setting.offer.most = version
        setting.offer.applicationProtocols = ["h2", "smtp"]
        let pair = try setting.pair()
        pair.client.begin()
        pair.server.receive(pair.client.takeOutgoing())
        #expect(pair.server.phase == .failed(.noSharedProtocol))
        // A fatal alert, number 120, in the clear.
        #expect(pair.server.outgoing == [21, 3, 3, 0, 2, 2, 120])
    }

    @Test(arguments: [
        ("one.example", true), ("127.0.0.1", true), ("ONE.example", true), ("two.example", true),
        ("a.two.example", true), ("three.example", true), ("a.b.two.example", false),
        ("a.one.example", false), ("four.example", false),
    ])
    func `chooses the certificate by the name of the server`(name: String, isOurs: Bool) throws {
        var setting = try Setting()
        setting.files.append(TestPEM.files(TestPEM.second, TestPEM.secondKey))
        setting.files.append(
            TestPEM.files(TestPEM.third, TestPEM.intermediate, key: TestPEM.thirdKey))
        setting.serverName = name
        for version in [TLS1_2_VERSION, TLS1_3_VERSION] {
            setting.offer.most = version
            let pair = try setting.connect()
            // The client knows better: for another name it gets the first certificate, no alert.
            #expect(pair.client.phase == (isOurs ? .open : .failed(.certificate)))
            #expect(pair.server.phase == (isOurs ? .open : .failed(.rejected)))
        }
    }

    @Test func `does not depend on a context that was replaced`() throws {
        let setting = try Setting()
        var context: TLSContext? = try setting.serverContext()
        weak let old = context
        var pair: Pair? = try setting.pair(context)
        context = nil
        #expect(old != nil, "a session keeps its context")
        pair?.client.begin()
        pair?.exchange()
        #expect(pair?.isOpen == true)
        pair = nil
        #expect(old == nil, "the last session frees it")
    }

    @Test func `leaves data after it for receive`() throws {
        let pair = try Setting().pair()
        pair.client.begin()
        pair.server.receive(pair.client.takeOutgoing())
        pair.client.receive(pair.server.takeOutgoing())
        pair.client.send(Array("early".utf8))
        var flight = pair.client.takeOutgoing()
        // Finished and data, with the beginning of another record.
        pair.client.send(Array("later".utf8))
        let last = pair.client.takeOutgoing()
        flight += last.prefix(7)
        pair.server.receive(flight)
        #expect(pair.server.phase == .open)
        #expect(pair.server.takeReceived() == Array("early".utf8))
        pair.server.receive(Array(last.dropFirst(7)))
        #expect(pair.server.takeReceived() == Array("later".utf8))
    }
}
