import PresenceClient
import PresenceServer
import Testing

/// What XMPP clients are told of the accounts of others (XEP-0030).
@Suite struct `Discovery of accounts` {
    @Test(arguments: [1, 2])
    func `is for those who see them`(loops: Int) throws {
        try withXMPPService(loops: loops) { service in
            let (alice, bob) = (try service.showXMPP("alice"), try service.showXMPP("bob"))
            func discover(_ subject: String, _ address: String) throws -> String {
                try alice.send(
                    "<iq type='get' id='d' to='\(address)'>"
                        + "<query xmlns='http://jabber.org/protocol/disco#\(subject)'/></iq>")
                // Pushes of the roster come in between.
                let start = try alice.until(" id='d'").split(separator: "<iq ").last ?? ""
                return try start + alice.until("</iq>")
            }
            func expectRejected(_ address: String) throws {
                for subject in ["info", "items"] {
                    let answer = try discover(subject, address)
                    #expect(
                        answer == "type='error' id='d' from='\(address)' to='alice@localhost/d1'>"
                            + "<error type='cancel'><service-unavailable "
                            + "xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>")
                }
            }
            try expectRejected("bob@localhost")
            try expectRejected("nobody@localhost")
            try alice.send("<presence to='bob@localhost' type='subscribe'/>")
            try bob.until("type='subscribe'/>")
            try expectRejected("bob@localhost")
            try bob.send("<presence to='alice@localhost' type='subscribed'/>")
            try alice.until("type='subscribed'/>")
            let info = try discover("info", "bob@localhost")
            #expect(info.contains("<identity category='account' type='registered'/>"))
            #expect(info.contains("from='bob@localhost' to='alice@localhost/d1'"))
            let items = try discover("items", "bob@localhost")
            #expect(items.contains("<query xmlns='http://jabber.org/protocol/disco#items'/>"))
            _ = try service.appServer().call(
                "setVisibility", ["account": "bob", "visibility": "hidden"])
            try expectRejected("bob@localhost")
        }
    }
}
