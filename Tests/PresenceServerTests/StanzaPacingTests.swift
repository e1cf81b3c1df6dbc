import PresenceCore
import PresenceServer
import Testing

/// What XMPP clients send above the rate limit of their account.
@Suite struct `Stanzas above the rate limit` {
    @Test(arguments: [1, 2])
    func `are carried out later, and of presences the last`(loops: Int) throws {
        try withXMPPService(
            loops: loops,
            { $0.engine.publishPace = Pace(perSecond: 1, burst: 1) },
            { service in
                let alice = try service.showXMPP("alice", "a")
                try alice.send(
                    "<presence><status>1</status></presence>"
                        + "<presence><status>2</status></presence>"
                        + "<presence to='bob@localhost' type='subscribe'/>"
                        + "<presence><status>3</status></presence>"
                        + "<iq type='set' id='r'><query xmlns='jabber:iq:roster'>"
                        + "<item jid='amy@localhost'/></query></iq>"
                        + "<presence><status>4</status></presence>")
                let said = try alice.until("<status>4</status></presence>")
                #expect(said.contains("ask='subscribe'"))
                #expect(said.contains("<iq type='result' id='r'"))
                #expect(!said.contains("<error"))
            })
    }
}
