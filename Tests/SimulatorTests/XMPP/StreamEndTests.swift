import Logging
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `The end of an XMPP stream` {
    private let network = SimulatedNetwork()
    private let disk = SimulatedDisk()
    private let service: SimulatedService

    init() {
        var configuration = Configuration()
        configuration.switchOffPace()
        var listening = XMPPListening(domains: [Array("home.example".utf8)])
        listening.allowsPlaintext = true
        configuration.xmpp = listening
        let clock = ServiceClock(
            mono: network.monotonicMilliseconds, wall: network.wallMilliseconds)
        let now = Moment(
            mono: Mono(milliseconds: network.monotonicMilliseconds),
            wall: Wall(milliseconds: network.wallMilliseconds))
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        service = SimulatedService(
            configuration, engine: Engine(settings: configuration.engine, at: now, seed: 1),
            clock: clock, network: network, disk: disk, logger: logger, feed: nil, loopCount: 1,
            seed: 1)
        service.begin()
        commit()
    }

    /// Has everything that was submitted made durable.
    private func commit() {
        service.settleLinks()
        service.withHost { host, now in host.report(disk.settle(isFailing: false), at: now) }
        service.settleLinks()
    }

    @Test func `follows what was under way`() {
        let tablet = network.open(roomBytes: 1 << 20)
        service.accept(tablet, on: .xmpp)
        let header = """
            <stream:stream xmlns='jabber:client' \
            xmlns:stream='http://etherx.jabber.org/streams' to='home.example' version='1.0'>
            """
        let login = """
            \(header)<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>\
            AGFsaWNlAHg=</auth>\(header)<iq type='set' id='1'>\
            <bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'><resource>tablet</resource></bind></iq>\
            <presence/>
            """
        service.receive(Array(login.utf8).span.bytes, from: tablet)
        let phone = SimulatedClient(account: "alice", device: "phone", ledger: MessageLedger())
        let id = network.open(roomBytes: 1 << 20)
        service.accept(id, on: .native)
        service.receive(
            phone.request("login", ["account": "alice", "device": "phone"]).span.bytes, from: id)
        commit()
        let status: JSON = ["type": 1, "value": 10_001, "onlineOnly": false]
        service.receive(phone.request("publish", status).span.bytes, from: id)
        service.settleLinks()
        _ = network.read(tablet, bytesMax: .max)
        // The status is durable when the end of the stream is under way to the engine.
        service.receive(Array("</stream:stream>".utf8).span.bytes, from: tablet)
        service.withHost { host, now in host.report(disk.settle(isFailing: false), at: now) }
        service.settleLinks()
        let said = String(
            decoding: network.read(tablet, bytesMax: .max).bytes, as: UTF8.self)
        #expect(said.contains("value='10001'"))
        #expect(said.hasSuffix("</presence></stream:stream>"), "\(said)")
    }
}
