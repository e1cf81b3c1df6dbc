import Containers
import Testing

@testable import PresenceXMPP

@Suite struct `Hostile tests` {
    @Test func `what follows STARTTLS in clear is dropped`() {
        for injected in [Client.header + Client.login, Client.login, "<", " "] {
            var peer = StreamPeer(isEncrypted: false)
            peer.receive(Client.header)
            let said = peer.receive(Client.startTLS + injected)
            #expect(said == "<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>")
            // Also what comes later, until the encryption has begun.
            #expect(peer.receive(injected) == "")
            #expect(peer.stream.bytesBuffered == 0)
            peer.stream.encrypted()
            #expect(peer.stream.phase == .secured)
            #expect(peer.receive(Client.header).contains("<mechanisms"))
            #expect(!peer.log.contains { $0.hasPrefix("password") })
        }
    }

    @Test func `half a stanza before STARTTLS is not completed after it`() {
        var peer = StreamPeer(isEncrypted: false)
        peer.receive(Client.header + Client.startTLS + "<auth xmlns='urn:ietf:params:xml:")
        peer.stream.encrypted()
        #expect(peer.receive("ns:xmpp-sasl'/>").contains("not-well-formed"))
    }

    @Test func `no password is asked for in clear`() {
        var peer = StreamPeer(isEncrypted: false) { $0.allowsRegistration = true }
        #expect(!peer.receive(Client.header).contains("mechanism"))
        for _ in 0..<3 {
            #expect(peer.receive(Client.login).contains("<encryption-required/>"))
        }
        #expect(peer.isEnded)
        #expect(!peer.log.contains { $0.hasPrefix("password") })
    }

    @Test func `nothing is relayed before the bind`() {
        for stanza in ["<message/>", "<presence/>", "<iq type='get' id='1'><a xmlns='b'/></iq>"] {
            var peer = StreamPeer()
            #expect(peer.receive(Client.header + stanza).contains("<not-authorized "))
            peer = StreamPeer()
            peer.receive(Client.header + Client.login + Client.header)
            #expect(peer.receive(stanza).contains("<not-authorized "))
            #expect(!peer.log.contains { $0.contains(stanza) })
        }
    }

    @Test func `while a question is open nothing is read`() {
        var peer = StreamPeer()
        peer.answers = false
        peer.receive(Client.header + Client.login + Client.header)
        let before = peer.log
        peer.receive(Client.login)
        peer.receive(Client.presence)
        #expect(peer.log == before)
        #expect(peer.stream.awaitsAnswer)
        #expect(
            peer.stream.bytesBuffered
                == (Client.header + Client.login + Client.presence).utf8.count)
    }

    @Test func `what is huge is rejected while it arrives`() {
        for sent in [
            "<stream:stream to='" + String(repeating: "a", count: 20_000),
            Client.header + "<" + String(repeating: "a", count: 20_000),
            Client.header + "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>"
                + String(repeating: "A", count: 20_000),
            Client.header + String(repeating: "<a>", count: 1_025),
        ] {
            var peer = StreamPeer()
            peer.receive(sent)
            #expect(peer.log.contains("error policy-violation"))
            #expect(peer.stream.bytesBuffered == 0)
        }
    }

    @Test func `an early error is told after a short header`() {
        var peer = StreamPeer()
        let said = peer.receive(String(repeating: "<a ", count: 100_000))
        #expect(said.utf8.count < 1_000)
    }

    @Test func `a sender is not another`() {
        for from in ["bob@example.org", "alice@example.org/tablet", "example.org"] {
            var peer = StreamPeer()
            peer.receive(Client.header + Client.login + Client.header + Client.bind)
            let said = peer.receive("<presence from='\(from)'/>")
            #expect(said.hasPrefix("<stream:error><invalid-from "))
            #expect(peer.isEnded)
        }
    }

    @Test func `reflected values are escaped`() {
        var peer = StreamPeer()
        let header = Client.header.replacing(
            " to=", with: " from='&lt;a b=&apos;&quot;&amp;' to=")
        #expect(peer.receive(header).contains("to='&lt;a b=&apos;&quot;&amp;'>"))
        peer.receive(Client.login + Client.header)
        let bind = Client.bind.replacing("b1", with: "&apos;&gt;&lt;a/&gt;")
            .replacing("phone", with: "&lt;x&gt;&amp;")
        let said = peer.receive(bind)
        #expect(said.contains("id='&apos;&gt;&lt;a/&gt;'"))
        #expect(said.contains("/&lt;x&gt;&amp;</jid>"))
    }

    @Test func `the password is not in what is said`() {
        var peer = StreamPeer { $0.allowsRegistration = true }
        peer.receive(Client.header)
        let said = peer.receive(
            "<iq type='set' id='r'><query xmlns='jabber:iq:register'><username>alice</username>"
                + "<password>topsecret</password></query></iq>")
        #expect(!said.contains("topsecret"))
    }
}
