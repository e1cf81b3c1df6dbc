import PresenceCore
import Testing

@testable import PresenceXMPP

@Suite struct `Decoding iqs` {
    private func iq(_ type: String, _ payload: String, to: String? = nil) -> String {
        "<iq type='\(type)' id='1'\(to.map { " to='\($0)'" } ?? "")>\(payload)</iq>"
    }

    private let ping = "<ping xmlns='urn:xmpp:ping'/>"
    private let roster = "<query xmlns='jabber:iq:roster'/>"
    private let info = "<query xmlns='http://jabber.org/protocol/disco#info'/>"
    private let last = "<query xmlns='jabber:iq:last'/>"

    @Test(arguments: [nil, "example.org", "alice@example.org", "192.0.2.1"] as [String?])
    func `answers pings of the service and of oneself`(to: String?) throws {
        #expect(try request(iq("get", ping, to: to)) == .ping)
    }

    @Test func `answers for other accounts only what they may be asked`() throws {
        let bob = "bob@example.org"
        #expect(try rejection(iq("get", ping, to: bob)) == .serviceUnavailable)
        #expect(try request(iq("get", info, to: bob)) == .discoverFeatures(account: bytes("bob")))
        #expect(try request(iq("get", last, to: bob)) == .lastSeen(account: bytes("bob")))
        #expect(try rejection(iq("get", roster, to: bob)) == .forbidden)
        #expect(try rejection(iq("set", roster, to: bob)) == .forbidden)
    }

    @Test func `reads and replaces cards`() throws {
        let empty = "<vCard xmlns='vcard-temp'/>"
        #expect(try request(iq("get", empty)) == .card(account: bytes("alice")))
        #expect(
            try request(iq("get", empty, to: "bob@example.org")) == .card(account: bytes("bob")))
        #expect(try rejection(iq("get", empty, to: "example.org")) == .itemNotFound)
        #expect(try request(iq("set", empty)) == .setCard([]))
        let card = "<v:vCard xmlns:v='vcard-temp'><v:FN>A &amp; B</v:FN></v:vCard>"
        let written = "<vCard xmlns='vcard-temp'><FN>A &amp; B</FN></vCard>"
        #expect(try request(iq("set", card)) == .setCard(bytes(written)))
        #expect(
            try request(iq("set", card, to: "alice@example.org")) == .setCard(bytes(written)))
        #expect(try rejection(iq("set", card, to: "bob@example.org")) == .forbidden)
        #expect(try rejection(iq("set", card, to: "example.org")) == .forbidden)
        #expect(
            try rejection(iq("set", "<card xmlns='vcard-temp'/>"))?.condition == .badRequest)
        let rest = Limits.cardBytesMax - "<vCard xmlns='vcard-temp'><FN></FN></vCard>".utf8.count
        func long(_ count: Int) -> String {
            "<vCard xmlns='vcard-temp'><FN>\(String(repeating: "x", count: count))</FN></vCard>"
        }
        #expect(try request(iq("set", long(rest))) == .setCard(bytes(long(rest))))
        #expect(try rejection(iq("set", long(rest + 1)))?.condition == .policyViolation)
    }

    @Test func `knows what the service supports`() throws {
        #expect(
            try request(iq("get", info, to: "example.org")) == .discoverFeatures(account: nil))
        #expect(try request(iq("get", info)) == .discoverFeatures(account: bytes("alice")))
        let items = "<query xmlns='http://jabber.org/protocol/disco#items'/>"
        #expect(
            try request(iq("get", items, to: "example.org")) == .discoverItems(account: nil))
        let node = "<query xmlns='http://jabber.org/protocol/disco#info' node='x'/>"
        #expect(try rejection(iq("get", node, to: "example.org")) == .itemNotFound)
        #expect(try request(iq("get", last, to: "example.org")) == .uptime)
        #expect(try request(iq("get", last)) == .lastSeen(account: bytes("alice")))
        #expect(try request(iq("get", "<query xmlns='jabber:iq:version'/>")) == .version)
        #expect(try request(iq("get", "<time xmlns='urn:xmpp:time'/>")) == .time)
        for type in ["get", "set"] {
            for payload in ["<query xmlns='jabber:iq:private'/>", "<x xmlns='u'/>", "<x/>"] {
                #expect(try rejection(iq(type, payload)) == .serviceUnavailable)
            }
        }
    }

    @Test func `lists and changes contacts`() throws {
        #expect(
            try request(iq("get", "<query xmlns='jabber:iq:roster' ver=''/>")) == .listContacts)
        func set(_ item: String) -> String {
            iq("set", "<query xmlns='jabber:iq:roster'>\(item)</query>")
        }
        #expect(
            try request(
                set(
                    """
                    <item jid='Bob@example.org/x' name='B &amp; b' subscription='both'>\
                    <group>a</group><group>b</group></item>
                    """))
                == .relate(
                    account: bytes("bob"),
                    .describe(
                        try #require(
                            ContactLabel(
                                name: bytes("B & b"), groups: [bytes("a"), bytes("b")])))))
        #expect(
            try request(set("<item jid='bob@example.org' subscription='remove'/>"))
                == .relate(account: bytes("bob"), .remove))
        let item = "<item jid='bob@example.org'/>"
        for bad in ["", item + item, "<item/>", "<x/>", "<item jid='alice@example.org'/>"] {
            #expect(try rejection(set(bad)) == .badRequest(), "\(bad)")
        }
        #expect(try rejection(set("<item jid='example.org'/>")) == .jidMalformed)
        #expect(try rejection(set("<item jid='@'/>")) == .jidMalformed)
        #expect(
            try rejection(set("<item jid='bob@other.example'/>"))
                == .init(.cancel, .remoteServerNotFound))
    }

    @Test func `holds the limits of a contact`() throws {
        func set(_ name: String, _ groups: [String]) -> String {
            let all = groups.map { "<group>\($0)</group>" }.joined()
            return iq(
                "set",
                """
                <query xmlns='jabber:iq:roster'><item jid='bob@example.org' name='\(name)'>\
                \(all)</item></query>
                """)
        }
        func some(_ count: Int) -> String { String(repeating: "n", count: count) }
        // 341 Han letters each.
        let han = String(repeating: "汉", count: 341)
        #expect(try request(set(han, [han, "a" + han.dropLast()])) != nil)
        #expect(try request(set(some(1_023), [some(1_023)])) != nil)
        #expect(try rejection(set(some(1_024), [])) == .notAcceptable(""))
        #expect(try rejection(set("", [some(1_024)])) == .notAcceptable(""))
        let groups = (0..<3).map { "\($0)" + some(1_022) }
        #expect(try request(set(some(1_023), groups.dropLast() + [some(1_000)])) != nil)
        #expect(try request(set(some(1_023), groups + [])) != nil)
        #expect(try rejection(set(some(1_023), groups + ["a"])) == .notAcceptable(""))
        #expect(try rejection(set("", ["a", ""])) == .notAcceptable(""))
        #expect(try rejection(set("", ["a", "a"])) == .badRequest())
    }

    @Test func `puts the name and the groups of a contact on one line`() throws {
        let item = """
            <item jid='bob@example.org' name='Bob&#10;B.&#9;&#x7f;'><group>
            work</group><group>&#9;work</group><group>at&#13;home</group></item>
            """
        let label = try #require(
            ContactLabel(name: bytes("Bob B.  "), groups: [bytes(" work"), bytes("at home")]))
        #expect(
            try request(iq("set", "<query xmlns='jabber:iq:roster'>\(item)</query>"))
                == .relate(account: bytes("bob"), .describe(label)))
    }

    @Test func `reads changes of the password`() throws {
        func register(_ content: String) -> String {
            iq("set", "<query xmlns='jabber:iq:register'>\(content)</query>")
        }
        #expect(
            try request(register("<username>Alice</username><password>x</password>"))
                == .changePassword(bytes("x")))
        #expect(try request(register("<remove/>")) == .unregister)
        for bad in [
            "", "<username>b</username>", "<username/><password>x</password>",
        ] {
            #expect(try rejection(register(bad)) == .notAcceptable(""), "\(bad)")
        }
        for other in ["bob", "b b"] {
            #expect(
                try rejection(register("<username>\(other)</username><password>x</password>"))
                    == .notAllowed)
        }
        #expect(
            try request(iq("get", "<query xmlns='jabber:iq:register'/>")) == .registrationForm)
    }

    @Test func `relays to devices`() throws {
        for type in ["get", "set", "result", "error"] {
            let expected = XMPPRequest.relayIQ(
                account: bytes("bob"), device: bytes("phone"),
                wantsAnswer: type == "get" || type == "set")
            #expect(try request(iq(type, info, to: "bob@example.org/phone")) == expected)
        }
    }

    @Test func `recognizes answers`() throws {
        #expect(try request(iq("result", "", to: "example.org")) == .answer(isError: false))
        #expect(try request(iq("result", roster)) == .answer(isError: false))
        #expect(try request(iq("error", "<a/><error/>")) == .answer(isError: true))
        // They are never answered.
        #expect(try request(iq("result", "", to: "x@other.example")) == .ignore)
        #expect(try request(iq("error", "", to: "@")) == .ignore)
    }

    @Test func `takes sets without an id, and no other iq that is incomplete`() throws {
        #expect(try request("<iq type='set'>\(roster)</iq>") == nil)
        #expect(
            try request(
                """
                <iq type='set'><query xmlns='jabber:iq:roster'><item jid='bob@example.org'/>\
                </query></iq>
                """) == .relate(account: bytes("bob"), .describe(.none)))
        for bad in [
            "<iq type='get'>\(ping)</iq>", "<iq id='1'>\(ping)</iq>", "<iq type='x' id='1'/>",
            "<iq type='get' id='1'/>", "<iq type='set' id='1'>\(ping)\(ping)</iq>",
        ] {
            #expect(try rejection(bad) == .badRequest(), "\(bad)")
        }
    }
}

@Suite struct `Decoding stanzas` {
    @Test func `rejects messages that are not delivered`() throws {
        #expect(
            try rejection(
                "<message to='bob@example.org' type='groupchat'><body>Hi</body></message>")
                == .serviceUnavailable)
        let error = "<message to='bob@example.org' type='error'><body>Hi</body></message>"
        #expect(try request(error) == .ignore)
    }

    @Test(
        arguments: [
            ("", true), ("<composing xmlns='http://jabber.org/protocol/chatstates'/>", true),
            ("<received xmlns='urn:xmpp:receipts' id='1'/><thread>t</thread>", false),
            ("<displayed xmlns='urn:xmpp:chat-markers:0' id='1'/>", false),
            ("<received xmlns='urn:xmpp:receipts' id='1'/><store xmlns='urn:xmpp:hints'/>", false),
            ("<origin-id xmlns='urn:xmpp:sid:0' id='1'/><body>Hi</body>", false),
            ("<encrypted xmlns='eu.siacs.conversations.axolotl'/>", false),
            ("<subject>Plans</subject>", false), ("<thread xmlns='other'/>", false),
        ] as [(String, Bool)])
    func `stores messages that a user has written`(content: String, isRelayed: Bool) throws {
        let message = "<message to='bob@example.org' type='chat'>\(content)</message>"
        if isRelayed {
            guard case .relayMessage(let relayed)? = try request(message) else {
                Issue.record("not relayed: \(message)")
                return
            }
            #expect(relayed.account == bytes("bob") && relayed.device == nil)
        } else {
            let request = try request(message)
            if case .send? = request {} else { Issue.record("not sent: \(message)") }
        }
    }

    @Test(arguments: ["alice@example.org", "alice@example.org/phone", "Alice@EXAMPLE.org"])
    func `takes the sender's own address`(from: String) throws {
        #expect(try request("<presence from='\(from)'/>") != nil)
    }

    @Test(arguments: [
        "bob@example.org", "alice@example.org/other", "example.org", "alice@192.0.2.1", "@",
    ])
    func `does not take the address of another`(from: String) throws {
        #expect(try decode("<presence from='\(from)'/>") == .invalidFrom)
    }

    @Test func `keeps what an answer repeats`() throws {
        guard
            case .rejected(let error, let head) = try decode(
                "<iq type='get' id='&lt;1' to='bob@other.example'><x/></iq>")
        else {
            Issue.record("not rejected")
            return
        }
        #expect(error == .remoteServerNotFound)
        #expect(
            head == StanzaHead(.iq, id: bytes("<1"), to: bytes("bob@other.example")))
    }
}
