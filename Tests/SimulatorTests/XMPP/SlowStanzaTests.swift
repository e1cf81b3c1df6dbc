import EventLoop
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `A stanza that arrives slowly` {
    private let service = SmallService { configuration in
        SmallXMPPClient.allow(in: &configuration)
    }
    private let alice: SmallXMPPClient
    private static let beginning = "<iq type='set' id='v'><vCard xmlns='vcard-temp'><PHOTO>"
    private static let end = "</PHOTO></vCard></iq>"

    init() {
        alice = SmallXMPPClient(of: service)
        #expect(alice.said().hasSuffix("</bind></iq>"))
    }

    private func send(_ count: Int) { alice.send(String(repeating: "A", count: count)) }

    @Test func `is read while it goes on arriving`() {
        // Each stanza has its own time.
        for _ in 0..<3 {
            alice.send(Self.beginning)
            for _ in 0..<11 {
                service.pass(milliseconds: 9_900)
                send(256)
            }
            #expect(!alice.said().contains("stream:error"))
            alice.send(Self.end)
            service.commit()
            #expect(alice.said().contains("<iq type='result' id='v'"))
        }
    }

    @Test(arguments: [0, 255])
    func `ends the stream when too little arrives`(count: Int) {
        alice.send(Self.beginning)
        service.pass(milliseconds: 5_000)
        send(600)
        service.pass(milliseconds: 5_001)
        send(count)
        service.pass(milliseconds: 9_900)
        #expect(!alice.said().contains("stream:error"))
        service.pass(milliseconds: 200)
        let error = alice.said()
        #expect(error.contains("<policy-violation "))
        #expect(error.contains("Send at least 256 bytes of it in 10 s, and all of it in 120 s."))
        #expect(error.hasSuffix("</stream:stream>"))
    }

    @Test func `ends the stream at last, however much arrives`() {
        alice.send(Self.beginning)
        for _ in 0..<13 {
            service.pass(milliseconds: 9_000)
            send(500)
        }
        service.pass(milliseconds: 2_900)
        #expect(!alice.said().contains("stream:error"))
        service.pass(milliseconds: 200)
        #expect(alice.said().contains("<policy-violation "))
    }
}
