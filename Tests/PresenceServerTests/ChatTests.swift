import PresenceServer
import Testing

/// Messages from and to XMPP clients.
@Suite struct `Chat over XMPP` {
    /// A client that is sent messages for its account.
    private func client(
        _ service: RunningService, _ account: String, _ presence: String = "<presence/>"
    ) throws -> StreamClient {
        let client = try StreamClient(service)
        try client.login(account)
        try client.send(presence + "<iq type='get' id='in'><ping xmlns='urn:xmpp:ping'/></iq>")
        try client.until("<iq type='result' id='in'")
        return client
    }

    private func write(_ client: StreamClient, to jid: String, _ id: String) throws {
        try client.send(
            "<message to='\(jid)' id='\(id)' type='chat'><body>今天\(id)</body></message>"
                + "<iq type='get' id='w\(id)'><ping xmlns='urn:xmpp:ping'/></iq>")
        #expect(!(try client.until("<iq type='result' id='w\(id)'")).contains("<error"))
    }

    /// The id of the ping that follows.
    private func ping(_ client: StreamClient) throws -> String {
        try client.until("<iq type='get' id='taken-")
        let number = try client.until("'").dropLast()
        try client.until("</iq>")
        return "taken-" + number
    }

    @Test(arguments: [1, 2])
    func `goes from client to client, once`(loops: Int) throws {
        try withXMPPService(loops: loops, { _ in }) { service in
            let (alice, bob) = (try client(service, "alice"), try client(service, "bob"))
            try write(alice, to: "bob@localhost", "m1")
            let first = try bob.until("</message>")
            #expect(first.contains("<message from='alice@localhost/d1' to='bob@localhost' id='m1'"))
            #expect(first.contains("<body>今天m1</body>") && !first.contains("<delay"))
            try write(alice, to: "bob@localhost/other", "m2")
            let question = try ping(bob)
            try bob.send("<iq type='error' id='\(question)'/>")
            #expect(try bob.until("</message>").contains("id='m2'"))
            let next = try ping(bob)
            try bob.send("<iq type='result' id='\(next)'/>")
            try write(bob, to: "bob@localhost", "m3")
            try bob.send("</stream:stream>")
            _ = bob.untilEnd()
            let again = try StreamClient(service)
            try again.login("bob")
            try again.send("<presence/>")
            #expect(try again.until("</message>").contains("id='m3'"))
        }
    }

    @Test func `waits for a client, and comes again until it is taken`() throws {
        try withXMPPService(loops: 1, { _ in }) { service in
            let alice = try client(service, "alice")
            try write(alice, to: "bob@localhost", "m1")
            for _ in 0..<2 {
                let bob = try client(service, "bob", "")
                try bob.send("<presence/>")
                let message = try bob.until("</message>")
                #expect(message.contains("id='m1'") && message.contains("<delay "))
                _ = try ping(bob)
                try bob.send("</stream:stream>")
                _ = bob.untilEnd()
            }
        }
    }

    @Test func `is for those that are available, with a priority`() throws {
        try withXMPPService(loops: 1, { _ in }) { service in
            let alice = try client(service, "alice")
            let bob = try client(service, "bob", "<presence><priority>-1</priority></presence>")
            try write(alice, to: "bob@localhost", "m1")
            try bob.send("<iq type='get' id='a'><ping xmlns='urn:xmpp:ping'/></iq>")
            #expect(!(try bob.until("id='a'")).contains("<message"))
            try bob.send("<presence/>")
            #expect(try bob.until("</message>").contains("id='m1'"))
        }
    }
}
