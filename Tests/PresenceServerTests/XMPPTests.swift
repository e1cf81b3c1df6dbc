import PresenceClient
import PresenceServer
import Testing

/// XMPP clients of a service that is reached over loopback without TLS.
@Suite struct `XMPP clients` {
    private func service(
        loops: Int = 1, _ adjust: @escaping @Sendable (inout Configuration) -> Void = { _ in },
        _ body: (RunningService) throws -> Void
    ) throws {
        try withXMPPService(loops: loops, adjust, body)
    }

    private func credentials(_ configuration: inout Configuration) {
        configuration.access = .credentials
        configuration.authenticator = Credentials(
            serverKeys: ["a-key-of-our-backend": "backend"], tokens: ["a1": "alice", "b1": "bob"])
    }

    // MARK: Logging in

    @Test(arguments: [1, 2])
    func `a client logs in as XMPPFramework does`(loops: Int) throws {
        try service(loops: loops) { service in
            let client = try StreamClient(service)
            #expect(try client.login("Alice", "iOS_V1.0").contains("alice@localhost/iOS_V1.0"))
            try client.send(
                """
                <iq type='set' id='s'><session xmlns='urn:ietf:params:xml:ns:xmpp-session'/></iq>\
                <iq type='get'  id='r'><query xmlns='jabber:iq:roster'/></iq><presence/>\
                <iq type='get' id='v'><vCard xmlns='vcard-temp'/></iq>
                """)
            try client.until("<iq type='result' id='s'/>")
            try client.until("<query xmlns='jabber:iq:roster'></query></iq>")
            let error = try client.until("</iq>")
            #expect(error.contains("id='v'") && error.contains("<item-not-found"))
            // Its sets have no id.
            try client.send(
                """
                <iq type='set'><query xmlns='jabber:iq:roster'>\
                <item jid='bob@localhost' name='Bob'><group>Friends</group></item></query></iq>
                """)
            #expect(try client.until("/>").contains("<iq type='result' to='alice@localhost/"))
            let push = try client.until("</iq>")
            #expect(push.contains("<item jid='bob@localhost' name='Bob' subscription='none'>"))
            #expect(push.contains("<group>Friends</group>"))
            try client.send("</stream:stream>")
            #expect(client.untilEnd() == "</stream:stream>")
        }
    }

    @Test(arguments: [1, 3])
    func `questions go from device to device`(loops: Int) throws {
        try service(loops: loops) { service in
            let alice = try StreamClient(service)
            try alice.login("alice", "a")
            let bob = try StreamClient(service)
            try bob.login("bob", "b")
            try alice.send(
                "<iq type='get' id='1' to='bob@localhost/b'>"
                    + "<query xmlns='jabber:iq:version'/></iq>")
            let question = try bob.until("</iq>")
            #expect(question.contains("from='alice@localhost/a'") && question.contains("id='1'"))
            try bob.send(
                "<iq type='result' id='1' to='alice@localhost/a' from='bob@localhost/b'/>")
            #expect(try alice.until("</iq>").contains("from='bob@localhost/b'"))
            try alice.send(
                "<iq type='get' id='2' to='bob@localhost/c'>"
                    + "<query xmlns='jabber:iq:version'/></iq>")
            #expect(try alice.until("</iq>").contains("<service-unavailable"))
        }
    }

    @Test func `app servers see what a client is`() throws {
        try service { service in
            let client = try StreamClient(service)
            try client.login("alice", "prof")
            let sessions = try service.appServer().call("sessions", ["account": "alice"])
            let session = try #require(sessions["sessions"]?.array?.first)
            #expect(session["client"] == "xmpp")
            #expect(session["device"] == "prof")
        }
    }

    @Test func `a native client cannot say that it is one of XMPP`() throws {
        try service { service in
            let client = try service.connect()
            #expect(
                client.rejection("login", ["account": "a", "device": "d", "client": "xmpp"])
                    == "414 out_of_range")
        }
    }

    @Test func `a token is a password, of its own account`() throws {
        try service(credentials) { service in
            let client = try StreamClient(service)
            try client.login("alice", "d1", secret: "a1")
            for secret in ["b1", "wrong"] {
                let other = try StreamClient(service)
                try other.authenticate("alice", secret)
                try other.until("<not-authorized/></failure>")
            }
        }
    }

    @Test func `a session ends with its token`() throws {
        try service(credentials) { service in
            let client = try StreamClient(service)
            try client.login("alice", "d1", secret: "a1")
            let life = Double(Credentials.lifeMilliseconds / 1_000) + 31
            var seconds = 0.0
            while seconds < life {
                service.pass(seconds: 20)
                seconds += 20
                try client.send(" ")
                if seconds < life - 60 { _ = try client.drain() }
            }
            #expect(client.untilEnd().contains("<reset xmlns"))
        }
    }

    @Test func `the third failure closes the stream`() throws {
        try service(credentials) { service in
            let client = try StreamClient(service)
            try client.authenticate("alice", "x")
            let auth =
                "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>AGEAeA==</auth>"
            try client.until("</failure>")
            try client.send(auth + auth)
            #expect(client.untilEnd().contains("<policy-violation xmlns"))
        }
    }

    // MARK: Ending

    @Test func `a device that connects again replaces the first`() throws {
        try service { service in
            let first = try service.showXMPP("alice")
            let second = try StreamClient(service)
            try second.login("alice")
            let last = first.untilEnd()
            #expect(last.contains("<conflict xmlns") && last.hasSuffix("</stream:stream>"))
            _ = try second.drain()
        }
    }

    @Test func `a client that says nothing is asked, and then closed`() throws {
        try service { service in
            let client = try StreamClient(service)
            try client.login("alice")
            service.pass(seconds: 61)
            try client.until("<ping xmlns='urn:xmpp:ping'/></iq>")
            // Any byte is a sign of life. A client that has answered once must answer each time.
            try client.send("<iq type='result' id='ping-1'/>")
            _ = try client.drain()
            service.pass(seconds: 61)
            try client.until("<ping xmlns='urn:xmpp:ping'/></iq>")
            service.pass(seconds: 31)
            #expect(client.untilEnd().contains("<connection-timeout xmlns"))
        }
    }

    @Test(arguments: ["", "<stream:stream", StreamClient.header])
    func `who does not log in is closed`(said: String) throws {
        try service { service in
            let client = try StreamClient(service)
            if !said.isEmpty { try client.send(said) }
            if said == StreamClient.header { try client.until("</stream:features>") }
            let other = try StreamClient(service)
            // The other's login shows that the first one was accepted.
            try other.login("bob")
            service.pass(seconds: 121)
            let last = client.untilEnd()
            #expect(last.contains("<connection-timeout xmlns"))
            #expect(last.contains("<stream:stream ") == (said != StreamClient.header))
        }
    }

    @Test func `a user may take two minutes to trust a certificate`() throws {
        try service { service in
            let client = try StreamClient(service)
            let other = try StreamClient(service)
            // The other's login shows that the first one was accepted.
            try other.login("bob")
            service.pass(seconds: 119)
            #expect(try client.login("alice", "phone").contains("alice@localhost/phone"))
        }
    }

    @Test func `half a stanza has ten seconds`() throws {
        try service { service in
            let client = try StreamClient(service)
            try client.login("alice")
            _ = try client.drain()
            try client.send("<message to='bob@localhost'><body>")
            // Read when the other's login has been answered, on the same loop.
            let other = try StreamClient(service)
            try other.login("bob")
            service.pass(seconds: 11)
            #expect(client.untilEnd().contains("<policy-violation xmlns"))
        }
    }

    @Test func `a shutdown is told`() throws {
        var client: StreamClient?
        try service { service in
            client = try StreamClient(service)
            try client?.login("alice")
        }
        #expect(client?.untilEnd().contains("<system-shutdown xmlns") == true)
    }

    @Test func `one connection too many is told`() throws {
        try service({ $0.admission.connectionsPerAddressMax = 1 }) { service in
            let first = try StreamClient(service)
            try first.login("alice")
            let second = try StreamClient(service)
            let last = second.untilEnd()
            #expect(last.contains("<resource-constraint xmlns"))
            #expect(last.contains("<?xml version='1.0'?><stream:stream "))
        }
    }

    @Test(arguments: [
        ("<a/>", "unsupported-stanza-type"), ("<!-- -->", "restricted-xml"),
        ("<presence><a></presence></a>", "not-well-formed"),
        ("<presence from='bob@localhost'/>", "invalid-from"),
    ])
    func `what must not be sent closes the stream`(sent: String, condition: String) throws {
        try service { service in
            let client = try StreamClient(service)
            try client.login("alice")
            try client.send(sent)
            let last = client.untilEnd()
            #expect(last.contains("<\(condition) xmlns") && last.hasSuffix("</stream:stream>"))
        }
    }

    // MARK: Relationships

    /// A native client of bob whom an XMPP client has come to see.
    private func nativeBob(
        _ service: RunningService, seenBy client: StreamClient, _ name: String
    ) throws -> Client {
        let bob = try service.login("bob", "phone")
        _ = try bob.call("relate", ["contact": .string(name), "action": "accept"])
        try client.send("<presence to='bob@localhost' type='subscribe'/>")
        try client.until("<presence from='bob@localhost/phone' to='\(name)@localhost'/>")
        return bob
    }

    @Test(arguments: [1, 2])
    func `two clients ask, accept, see each other and part`(loops: Int) throws {
        try service(loops: loops) { service in
            let (alice, bob) = (
                try service.showXMPP("alice", "a"), try service.showXMPP("bob", "b")
            )
            try alice.send("<presence to='bob@localhost' type='subscribe'/>")
            try alice.until("subscription='none' ask='subscribe'/></query></iq>")
            try bob.until(
                "<presence from='alice@localhost' to='bob@localhost' type='subscribe'/>")
            try bob.send("<presence to='alice@localhost' type='subscribed'/>")
            try bob.until("<item jid='alice@localhost' subscription='from'/></query></iq>")
            try alice.until("type='subscribed'/>")
            try alice.until("<item jid='bob@localhost' subscription='to'/></query></iq>")
            try alice.until("<presence from='bob@localhost/b' to='alice@localhost'/>")
            try bob.send("<presence><show>away</show><status>brb</status></presence>")
            try alice.until(
                "<presence from='bob@localhost/b' to='alice@localhost'><show>away</show>"
                    + "<status>brb</status></presence>")
            try bob.send("</stream:stream>")
            try alice.until(
                "<presence from='bob@localhost/b' to='alice@localhost' type='unavailable'/>")
        }
    }

    @Test func `a request waits for the next login`() throws {
        try service { service in
            let alice = try StreamClient(service)
            try alice.login("alice")
            try alice.send(
                "<presence to='bob@localhost' type='subscribe'><status>hi</status></presence>")
            _ = try alice.drain()
            for _ in 1...2 {
                let bob = try service.showXMPP("bob")
                try bob.until("type='subscribe'><status>hi</status></presence>")
            }
        }
    }

    @Test func `a native status is shown to XMPP clients`() throws {
        try service { service in
            let alice = try service.showXMPP("alice")
            let bob = try nativeBob(service, seenBy: alice, "alice")
            _ = try bob.call("publish", ["type": 1, "value": 10_001, "ext": "<busy & more>"])
            let shown = try alice.until("</presence>")
            #expect(shown.contains("value='10001'"))
            #expect(shown.contains("&lt;busy &amp; more"))
            _ = try bob.call("clear", ["type": 1])
            try alice.until("<presence from='bob@localhost/phone' to='alice@localhost'/>")
        }
    }

    @Test func `a client that does not read costs bounded memory, and ends up with the truth`()
        throws
    {
        try service({ $0.switchOffPace() }) { service in
            let slow = try service.showXMPP("slow")
            let bob = try nativeBob(service, seenBy: slow, "slow")
            let count = 3_000
            try bob.publishLong(count)
            let stats = try service.appServer().call("stats")
            #expect((stats["conflated"]?.integer ?? 0) > 100)
            #expect((stats["outboxBytes"]?.integer ?? .max) < 300_000)
            _ = try bob.call("logout")
            let said = try slow.until(" type='unavailable'")
            #expect(said.split(separator: "<presence ").count < count)
            _ = try slow.drain()
        }
    }

    @Test func `native clients and XMPP clients of one account both see a contact`() throws {
        try service(loops: 2) { service in
            let alice = try service.showXMPP("alice", "xmpp")
            let phone = try service.login("alice", "phone")
            _ = try phone.subscribe(["bob"])
            let bob = try nativeBob(service, seenBy: alice, "alice")
            for number in 1...50 {
                _ = try bob.call("publish", ["type": 1, "value": .integer(Int64(10_000 + number))])
            }
            for number in 1...50 {
                let said = try alice.until("</presence>")
                #expect(said.contains("value='\(10_000 + number)'"))
            }
            var last: JSON?
            while last?["value"] != 10_050 { last = try phone.nextEvent() }
        }
    }

    @Test func `a slot of an XMPP client can be used by a native one`() throws {
        try service { service in
            for round in 1...20 {
                let alice = try service.showXMPP("alice\(round)")
                try alice.send("</stream:stream>")
                #expect(alice.untilEnd().hasSuffix("</stream:stream>"))
                let carol = try service.login("carol\(round)")
                _ = try carol.subscribe(["dave\(round)"])
                let dave = try service.login("dave\(round)")
                #expect(try carol.nextEvent()["value"] == 1)
                _ = try dave.call("logout")
                #expect(try carol.nextEvent()["value"] == 2)
                _ = try carol.call("logout")
            }
        }
    }

    @Test func `errors have the id and the address of what was sent`() throws {
        try service { service in
            let alice = try StreamClient(service)
            try alice.login("alice")
            for (sent, condition) in [
                ("<iq type='get' id='1'><q xmlns='unknown'/></iq>", "service-unavailable"),
                ("<presence to='alice@localhost' type='subscribe' id='1'/>", "bad-request"),
                ("<message to='b@localhost' id='1' type='groupchat'/>", "service-unavailable"),
                (
                    "<iq type='set' id='1'><query xmlns='jabber:iq:roster'>"
                        + "<item jid='x@localhost' subscription='remove'/></query></iq>",
                    "item-not-found"
                ),
            ] {
                try alice.send(sent)
                let error = try alice.until("</error>")
                #expect(error.contains("id='1'") && error.contains("<\(condition)"), "\(error)")
                #expect(error.contains(" to='alice@localhost/d1'"))
            }
        }
    }
}
