import COpenSSL
import TestSupport
import Testing

@testable import TLSSessions

@Suite struct `A session ticket` {
    private static let hour: UInt64 = 3_600

    /// A ticket of a connection in `version`.
    private func ticket(
        _ setting: Setting, _ server: TLSContext, _ client: TLSClientContext
    ) throws -> TLSResumption {
        let pair = try setting.connect(server, client)
        #expect(pair.isOpen)
        return try #require(pair.client.resumption)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `continues a session`(version: CInt) throws {
        var setting = try Setting()
        setting.offer.most = version
        let server = try setting.serverContext()
        let client = try setting.clientContext()
        let ticket = try ticket(setting, server, client)
        let pair = try setting.connect(server, client, resuming: ticket)
        #expect(pair.isOpen)
        #expect(pair.server.isResumed && pair.client.isResumed)
        #expect(pair.server.applicationProtocol == "porchlight")
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `is accepted after its key was replaced, until it expires`(version: CInt) throws {
        var setting = try Setting()
        setting.offer.most = version
        let server = try setting.serverContext()
        let client = try setting.clientContext()
        let ticket = try ticket(setting, server, client)
        var expected = [true, true, false]
        for hours: UInt64 in [12, 24, 36] {
            _ = setting.tickets.rotate(at: hours * Self.hour)
            let pair = try setting.connect(server, client, resuming: ticket)
            #expect(pair.isOpen)
            #expect(pair.server.isResumed == expected.removeFirst(), "after \(hours) hours")
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `is accepted by the context that replaces the one that made it`(version: CInt) throws {
        var setting = try Setting()
        setting.offer.most = version
        let client = try setting.clientContext()
        let ticket = try ticket(setting, setting.serverContext(), client)
        let pair = try setting.connect(setting.serverContext(), client, resuming: ticket)
        #expect(pair.isOpen && pair.server.isResumed)
    }

    @Test func `is accepted for a certificate that is not the first`() throws {
        var setting = try Setting()
        setting.files.append(TestPEM.files(TestPEM.second, TestPEM.secondKey))
        setting.serverName = "two.example"
        let server = try setting.serverContext()
        let client = try setting.clientContext()
        let ticket = try ticket(setting, server, client)
        let pair = try setting.connect(server, client, resuming: ticket)
        #expect(pair.isOpen && pair.server.isResumed)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `is rejected for another certificate, whichever name is asked for`(
        version: CInt
    ) throws {
        var setting = try Setting()
        setting.offer.most = version
        setting.files.append(TestPEM.files(TestPEM.second, TestPEM.secondKey))
        let server = try setting.serverContext()
        let client = try setting.clientContext()
        for (name, other) in [("one.example", "two.example"), ("two.example", "one.example")] {
            setting.serverName = name
            let ticket = try ticket(setting, server, client)
            setting.serverName = other
            let pair = try setting.connect(server, client, resuming: ticket)
            #expect(pair.isOpen && !pair.server.isResumed, "from \(name) to \(other)")
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `is rejected for another name of its certificate`(version: CInt) throws {
        var setting = try Setting()
        setting.offer.most = version
        setting.files.insert(TestPEM.files(TestPEM.second, TestPEM.secondKey), at: 0)
        let server = try setting.serverContext()
        let client = try setting.clientContext()
        setting.serverName = "two.example"
        let ticket = try ticket(setting, server, client)
        setting.serverName = "mail.two.example"
        let pair = try setting.connect(server, client, resuming: ticket)
        #expect(pair.isOpen && !pair.server.isResumed)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `is rejected after its certificate was replaced`(version: CInt) throws {
        var setting = try Setting()
        setting.offer.most = version
        let client = try setting.clientContext()
        let ticket = try ticket(setting, setting.serverContext(), client)
        setting.files = [TestPEM.files(TestPEM.second, TestPEM.secondKey)]
        setting.serverName = "two.example"
        let pair = try setting.connect(setting.serverContext(), client, resuming: ticket)
        #expect(pair.isOpen && !pair.server.isResumed)
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `is rejected by every other listener`(version: CInt) throws {
        var setting = try Setting()
        setting.offer.most = version
        setting.offer.applicationProtocols = []
        let client = try setting.clientContext()
        for begun in TLSContext.Listener.allCases {
            setting.listener = begun
            let ticket = try ticket(setting, setting.serverContext(), client)
            for listener in TLSContext.Listener.allCases {
                setting.listener = listener
                let pair = try setting.connect(setting.serverContext(), client, resuming: ticket)
                #expect(pair.isOpen)
                #expect(pair.server.isResumed == (listener == begun), "\(begun), \(listener)")
            }
        }
    }

    @Test(arguments: [TLS1_2_VERSION, TLS1_3_VERSION])
    func `of another process leads to a full handshake`(version: CInt) throws {
        var setting = try Setting()
        setting.offer.most = version
        let client = try setting.clientContext()
        let ticket = try ticket(setting, setting.serverContext(), client)
        setting.tickets = try #require(TLSTicketKeys(at: 0))
        let pair = try setting.connect(setting.serverContext(), client, resuming: ticket)
        #expect(pair.isOpen && !pair.server.isResumed)
    }

    @Test func `is made with a key that is replaced every 12 hours`() throws {
        let keys = try #require(TLSTicketKeys(at: 100))
        let first = keys.current.name
        #expect(keys.rotate(at: 100) == 100 + 12 * Self.hour)
        #expect(keys.rotate(at: 99 + 12 * Self.hour) == 100 + 12 * Self.hour)
        #expect(keys.current.name == first)
        #expect(keys.rotate(at: 100 + 12 * Self.hour) == 100 + 24 * Self.hour)
        #expect(keys.current.name != first)
        #expect(keys.find(first)?.isCurrent == false)
        _ = keys.rotate(at: 100 + 24 * Self.hour)
        #expect(keys.count == 3)
        _ = keys.rotate(at: 100 + 36 * Self.hour)
        #expect(keys.count == 3, "the first key's last ticket has expired")
        #expect(keys.find(first) == nil)
        // After a long time without a call, no key is left but those whose tickets may be valid.
        _ = keys.rotate(at: 100 + 1_000 * Self.hour)
        #expect(keys.count == 2)
    }
}
