import PresenceClient
import PresenceServer
import Testing

/// Presence that XMPP clients send to one address (RFC 6121, section 4.6).
@Suite struct `Presence for one address` {
    private func client(
        _ service: RunningService, _ name: String, _ device: String, domain: String = "localhost"
    ) throws -> StreamClient {
        let client = try service.showXMPP(name, device, domain: domain)
        _ = try client.drain()
        return client
    }

    @Test(arguments: [1, 3])
    func `reaches clients on all loops, and so does its end`(loops: Int) throws {
        try withXMPPService(loops: loops) { service in
            let alice = try client(service, "alice", "a")
            let bobs = try (0..<4).map { try client(service, "bob", "b\($0)") }
            try alice.send(
                "<presence to='bob@localhost'><show>away</show>"
                    + "<status xml:lang='de'>Mittag</status><priority>5</priority>"
                    + "<x xmlns='u'><y/></x></presence>")
            for bob in bobs {
                try bob.until(
                    "<presence from='alice@localhost/a' to='bob@localhost'><show>away</show>"
                        + "<status xml:lang='de'>Mittag</status><priority>5</priority>"
                        + "<x xmlns='u'><y/></x></presence>")
            }
            try alice.send("<presence to='bob@localhost/b1'/>")
            try bobs[1].until("<presence from='alice@localhost/a' to='bob@localhost/b1'/>")
            try alice.send("</stream:stream>")
            for bob in bobs {
                try bob.until(
                    "<presence from='alice@localhost/a' to='bob@localhost' type='unavailable'/>")
                #expect(try !bob.drain().contains("alice"))
            }
        }
    }

    @Test func `is withdrawn by its sender`() throws {
        try withXMPPService { service in
            let (alice, bob) = try (client(service, "alice", "a"), client(service, "bob", "b"))
            try alice.send("<presence to='bob@localhost/b'/>")
            try bob.until("<presence from='alice@localhost/a' to='bob@localhost/b'/>")
            try alice.send(
                "<presence to='bob@localhost/b' type='unavailable'><status>bye</status></presence>"
            )
            try bob.until(
                "<presence from='alice@localhost/a' to='bob@localhost/b' type='unavailable'>"
                    + "<status>bye</status></presence>")
            try alice.send("<presence type='unavailable'/>")
            _ = try alice.drain()
            #expect(try !bob.drain().contains("alice"))
        }
    }

    @Test func `has the domain of its receiver, also at the end`() throws {
        try withXMPPService(domains: ["localhost", "example.org"]) { service in
            let alice = try client(service, "alice", "a")
            let bob = try client(service, "bob", "b", domain: "example.org")
            try alice.send("<presence to='bob@example.org'/>")
            try bob.until("<presence from='alice@example.org/a' to='bob@example.org'/>")
            try alice.send("</stream:stream>")
            try bob.until("from='alice@example.org/a' to='bob@example.org' type='unavailable'/>")
        }
    }

    @Test func `and iqs have the domain of their receiver`() throws {
        try withXMPPService(domains: ["localhost", "example.org"]) { service in
            let alice = try client(service, "alice", "a")
            let bob = try client(service, "bob", "b", domain: "example.org")
            let ping = "<ping xmlns='urn:xmpp:ping'/></iq>"
            try alice.send("<iq type='get' id='1' to='bob@localhost/b'>\(ping)")
            try bob.until(
                "<iq from='alice@example.org/a' to='bob@example.org/b' type='get' id='1'>\(ping)")
            try bob.send("<iq type='result' id='1' to='alice@example.org/a'/>")
            try alice.until(
                "<iq from='bob@localhost/b' to='alice@localhost/a' type='result' id='1'></iq>")
        }
    }

    @Test func `is what each receiver is to be sent, whatever the one before it was sent`() throws {
        try withXMPPService(
            domains: ["localhost", "example.org"], { $0.switchOffPace() }
        ) { service in
            let alice = try client(service, "alice", "a")
            let domains = ["localhost", "localhost", "example.org", "localhost"]
            let bobs = try domains.enumerated().map { number, domain in
                try client(service, "bob", "b\(number)", domain: domain)
            }
            // Two of them have been sent so many that they are not sent one more.
            for device in ["b0", "b3"] {
                for _ in 1...300 { try alice.send("<presence to='bob@localhost/\(device)'/>") }
            }
            for device in ["b1", "b2"] {
                try alice.send("<presence to='bob@localhost/\(device)'/>")
            }
            _ = try alice.drain()
            for bob in bobs { _ = try bob.drain() }
            try alice.send("<presence to='bob@localhost'><status>there</status></presence>")
            try alice.send(
                "<presence to='bob@localhost' type='unavailable'><status>x</status></presence>")
            for (number, domain) in domains.enumerated() {
                let said = try bobs[number].until(
                    "<presence from='alice@\(domain)/a' to='bob@\(domain)' type='unavailable'>"
                        + "<status>x</status></presence>")
                #expect(said.contains("there") == ![0, 3].contains(number))
            }
        }
    }

    @Test func `of strangers leaves room for that of contacts`() throws {
        try withXMPPService({ $0.switchOffPace() }) { service in
            let (alice, bob) = try (client(service, "alice", "a"), client(service, "bob", "b"))
            let eve = try client(service, "eve", "e")
            try alice.send("<presence to='bob@localhost' type='subscribe'/>")
            try bob.until("type='subscribe'/>")
            try bob.send("<presence to='alice@localhost' type='subscribed'/>")
            try alice.until("<presence from='bob@localhost/b' to='alice@localhost'/>")
            for _ in 1...300 { try eve.send("<presence to='bob@localhost'/>") }
            _ = try eve.drain()
            let ping = "<ping xmlns='urn:xmpp:ping'/>"
            // The receiver sees nothing of the sender: contacts are those of either direction.
            try alice.send("<presence to='bob@localhost'><status>there</status></presence>")
            try alice.send("<iq type='get' id='1' to='bob@localhost/b'>\(ping)</iq>")
            try bob.until("<status>there</status>")
            try bob.until("<iq from='alice@localhost/a' to='bob@localhost/b' type='get' id='1'>")
            try eve.send("<iq type='get' id='2' to='bob@localhost/b'>\(ping)</iq>")
            let rejected = try eve.until("</iq>")
            #expect(rejected.contains("<error type='wait'><policy-violation "))
            #expect(rejected.contains("Retry after 1 s."))
        }
    }

    @Test func `has a limit of addresses, which the error names`() throws {
        try withXMPPService { service in
            let alice = try client(service, "alice", "a")
            for number in 1...32 { try alice.send("<presence to='n\(number)@localhost'/>") }
            try alice.send("<presence to='n33@localhost' id='1'/>")
            let error = try alice.until("</presence>")
            #expect(error.hasPrefix("<presence type='error' id='1' from='n33@localhost'"))
            #expect(error.contains("<error type='wait'><resource-constraint "))
            #expect(error.contains("limited to 32 addresses"))
            try alice.send(
                "<presence to='n1@localhost' type='unavailable'/><presence to='n33@localhost'/>")
            #expect(try !alice.drain().contains("error"))
        }
    }

    @Test func `is bounded as everything that is relayed`() throws {
        try withXMPPService { service in
            let (alice, bob) = try (client(service, "alice", "a"), client(service, "bob", "b"))
            let text = String(repeating: "&amp;", count: 1_000)
            func send(_ extra: Int) throws {
                try alice.send(
                    "<presence to='bob@localhost'><status>\(text)</status><x xmlns='u'>"
                        + String(repeating: "x", count: extra) + "</x></presence>")
            }
            try send(2_000)
            #expect(try bob.until("</presence>").contains(text))
            try send(3_500)
            // Without what does not fit.
            let brief = try bob.until("</presence>")
            #expect(brief.hasSuffix("<status>\(text)</status></presence>"))
            #expect(try !alice.drain().contains("error"))
            // Names that none can have are like those that nobody has.
            let long = String(repeating: "a", count: 200)
            try alice.send("<presence to='bob@localhost/\(long)'/>")
            #expect(try !alice.drain().contains("error"))
        }
    }

    @Test func `from strangers has a pace at its receiver, but its end has none`() throws {
        try withXMPPService({ $0.switchOffPace() }) { service in
            let bob = try client(service, "bob", "b")
            let alice = try client(service, "alice", "a")
            for number in 1...300 {
                try alice.send(
                    "<presence to='bob@localhost'><status>\(number)</status></presence>")
            }
            _ = try alice.drain()
            let said = try bob.drain()
            let count = said.split(separator: "from='alice@localhost/a'").count - 1
            // The share of one sender: half of what is accepted at once, and a few that the time of
            // the test allows.
            #expect((100..<200).contains(count))
            try alice.send("<presence to='bob@localhost' type='unavailable'><status>x</status>")
            try alice.send("</presence>")
            _ = try alice.drain()
            let end = try bob.until(" type='unavailable'")
            #expect(end.hasSuffix("from='alice@localhost/a' to='bob@localhost' type='unavailable'"))
        }
    }

    @Test func `that hides a device from one subscriber has a pace at its receiver`() throws {
        try withXMPPService({ $0.switchOffPace() }) { service in
            let (alice, bob) = try (client(service, "alice", "a"), client(service, "bob", "b"))
            try bob.send("<presence to='alice@localhost' type='subscribe'/>")
            try alice.until("type='subscribe'/>")
            try alice.send("<presence to='bob@localhost' type='subscribed'/>")
            try bob.until("<presence from='alice@localhost/a' to='bob@localhost'/>")
            for _ in 1...700 {
                try alice.send("<presence to='bob@localhost' type='unavailable'/>")
            }
            _ = try alice.drain()
            let said = try bob.drain()
            let count = said.split(separator: "type='unavailable'/>").count - 1
            // As many as at once, and a few that the time of the test allows.
            #expect((250..<500).contains(count), "\(count)")
            try alice.send("<presence><show>away</show></presence>")
            try bob.until("to='bob@localhost'><show>away</show></presence>")
        }
    }

    @Test func `ends with the grace of its sender`() throws {
        try withXMPPService { service in
            var alice: StreamClient? = try client(service, "alice", "a")
            let bob = try client(service, "bob", "b")
            try alice?.send("<presence to='bob@localhost'/>")
            try bob.until("<presence from='alice@localhost/a' to='bob@localhost'/>")
            alice = nil
            let again = try client(service, "alice", "a")
            service.pass(seconds: 30)
            #expect(try !bob.drain().contains("alice"))
            try again.send("</stream:stream>")
            try bob.until("from='alice@localhost/a' to='bob@localhost' type='unavailable'/>")
        }
    }

    @Test func `ends once for a subscriber`() throws {
        try withXMPPService { service in
            let (alice, bob) = try (client(service, "alice", "a"), client(service, "bob", "b"))
            try bob.send("<presence to='alice@localhost' type='subscribe'/>")
            try alice.until("type='subscribe'/>")
            try alice.send("<presence to='bob@localhost' type='subscribed'/>")
            try bob.until("<presence from='alice@localhost/a' to='bob@localhost'/>")
            try alice.send("<presence to='bob@localhost'><show>chat</show></presence>")
            try bob.until("to='bob@localhost'><show>chat</show></presence>")
            try alice.send("</stream:stream>")
            try bob.until("from='alice@localhost/a' to='bob@localhost' type='unavailable'/>")
            #expect(try !bob.drain().contains("alice"))
        }
    }

    @Test func `is not for native clients`() throws {
        try withXMPPService { service in
            let alice = try client(service, "alice", "a")
            let bob = try service.login("bob", "phone")
            for address in ["bob@localhost", "bob@localhost/phone"] {
                try alice.send("<presence to='\(address)'/>")
            }
            #expect(try !alice.drain().contains("error"))
            // The next that it reads is its own answer.
            _ = try bob.call("ping")
        }
    }
}
