import PresenceCore
import Testing
import XML

@testable import PresenceXMPP

@Suite struct `Encoding stanzas` {
    private let domain = bytes("example.org")
    private let head = StanzaHead(.iq, id: bytes("a'1"), to: bytes("example.org"))
    private let answer = "id='a&apos;1' from='example.org' to='alice@example.org/phone'"
    private let service = ServiceDescription(name: bytes("Porchlight"), version: bytes("1.0"))

    private func presence(_ rest: (inout [UInt8]) -> Void) throws -> String {
        try written { all in
            all.appendPresenceStart(
                from: bytes("Bob"), device: bytes("a'b"), at: domain)
            all.appendJID(of: bytes("alice"), at: domain)
            rest(&all)
        }
    }

    private let start = "<presence from='\\42ob@example.org/a&apos;b' to='alice@example.org'"

    @Test func `writes presence around the receiver's address`() throws {
        #expect(try presence { $0.appendPresenceRest(Availability()) } == start + "/>")
        #expect(
            try presence {
                $0.appendPresenceRest(
                    Availability(
                        show: .dnd, priority: -1, text: bytes("<busy>"), language: bytes("en"),
                        extra: bytes("<c xmlns='http://jabber.org/protocol/caps'/>")),
                    status: StatusContent(
                        value: 10_001, expires: Wall(milliseconds: 1_795_259_714_999),
                        ext: bytes(#"{"a":"\#u{1}"}"#)),
                    since: Wall(milliseconds: 0))
            } == start + """
                ><show>dnd</show><status xml:lang='en'>&lt;busy&gt;</status>\
                <priority>-1</priority><c xmlns='http://jabber.org/protocol/caps'/>\
                <value xmlns='urn:porchlight:status:0' value='10001' \
                expires='2026-11-21T11:15:14Z'>{&quot;a&quot;:&quot;\u{FFFD}&quot;}</value>\
                <delay xmlns='urn:xmpp:delay' stamp='1970-01-01T00:00:00Z'/></presence>
                """)
        #expect(
            try presence { $0.appendUnavailableRest() } == start + " type='unavailable'/>")
        #expect(
            try presence {
                $0.appendUnavailableRest(
                    Availability(text: bytes("Bye")), since: Wall(milliseconds: 951_827_696_000))
            } == start + """
                 type='unavailable'><status>Bye</status>\
                <delay xmlns='urn:xmpp:delay' stamp='2000-02-29T12:34:56Z'/></presence>
                """)
    }

    /// What one client shows reaches another as it was.
    @Test func `writes what was decoded`() throws {
        let content = """
            <show>xa</show><status xml:lang='de'>Ä &amp; ]]&gt;</status><priority>7</priority>\
            <status xml:lang='en'>x</status><idle xmlns='urn:xmpp:idle:1' since='1'/>
            """
        guard case .show(let availability) = try request("<presence>\(content)</presence>") else {
            Issue.record("not shown")
            return
        }
        let text = try presence { $0.appendPresenceRest(availability) }
        #expect(text == start + ">\(content)</presence>")
    }

    @Test(arguments: RelationWord.allCases)
    func `writes the words of relationships`(word: RelationWord) throws {
        #expect(
            try written {
                $0.appendWord(word, from: bytes("bob"), to: bytes("alice"), at: domain)
            } == "<presence from='bob@example.org' to='alice@example.org' type='\(word)'/>")
        #expect(
            try written {
                $0.appendWord(
                    word, from: bytes("bob"), to: bytes("alice"), at: domain,
                    RequestContent(text: bytes("Hi"), extra: bytes("<x xmlns='u'/>")))
            } == """
                <presence from='bob@example.org' to='alice@example.org' type='\(word)'>\
                <status>Hi</status><x xmlns='u'/></presence>
                """)
    }

    @Test func `writes rosters and their changes`() throws {
        let states: [(RelationState, RelationState, String)] = [
            (.none, .none, "'none'"), (.pending, .none, "'none' ask='subscribe'"),
            (.none, .pending, "'none'"), (.active, .none, "'to'"), (.none, .active, "'from'"),
            (.pending, .active, "'from' ask='subscribe'"), (.active, .active, "'both'"),
            (.active, .pending, "'to'"),
        ]
        for (seen, sees, expected) in states {
            #expect(
                try written { all in
                    all.append(
                        RosterItem(account: bytes("bob"), seen: seen, sees: sees), at: domain)
                } == "<item jid='bob@example.org' subscription=\(expected)/>")
        }
        let label = try #require(
            ContactLabel(name: bytes("B\"b"), groups: [bytes("a&b"), bytes("c")]))
        #expect(
            try written { all in
                all.appendRosterStart(StanzaHead(.iq, id: bytes("r")), to: alice)
                all.append(
                    RosterItem(
                        account: bytes("bob"), label: label,
                        isApprovedBefore: true), at: domain)
                all.appendRosterEnd()
            } == """
                <iq type='result' id='r' to='alice@example.org/phone'>\
                <query xmlns='jabber:iq:roster'><item jid='bob@example.org' name='B&quot;b' \
                subscription='none' approved='true'><group>a&amp;b</group><group>c</group></item>\
                </query></iq>
                """)
        #expect(
            try written { all in
                all.appendRosterPushStart(number: 7, to: alice)
                all.appendRemovedItem(bytes("bob"), at: domain)
                all.appendRosterEnd()
            } == """
                <iq type='set' id='push-7' to='alice@example.org/phone'>\
                <query xmlns='jabber:iq:roster'>\
                <item jid='bob@example.org' subscription='remove'/></query></iq>
                """)
    }

    @Test func `writes answers with the id and the addresses of the question`() throws {
        #expect(
            try written { $0.appendResult(head, to: alice) } == "<iq type='result' \(answer)/>")
        #expect(
            try written { $0.appendResult(StanzaHead(.iq), to: alice) }
                == "<iq type='result' to='alice@example.org/phone'/>")
        #expect(
            try written { $0.appendLast(head, to: alice, seconds: 903) }
                == "<iq type='result' \(answer)><query xmlns='jabber:iq:last' seconds='903'/></iq>")
        #expect(
            try written { $0.appendVersion(head, to: alice, service) } == """
                <iq type='result' \(answer)><query xmlns='jabber:iq:version'>\
                <name>Porchlight</name><version>1.0</version></query></iq>
                """)
        #expect(
            try written {
                $0.appendTime(head, to: alice, Wall(milliseconds: 1_166_549_915_123))
            } == """
                <iq type='result' \(answer)><time xmlns='urn:xmpp:time'><tzo>+00:00</tzo>\
                <utc>2006-12-19T17:38:35Z</utc></time></iq>
                """)
        #expect(
            try written { $0.appendPing(number: 3, to: alice) } == """
                <iq type='get' id='ping-3' from='example.org' to='alice@example.org/phone'>\
                <ping xmlns='urn:xmpp:ping'/></iq>
                """)
    }

    @Test func `writes what the service and accounts support`() throws {
        let text = try written {
            $0.appendServiceFeatures(head, to: alice, service, canChangePassword: false)
        }
        #expect(
            text.hasPrefix(
                """
                <iq type='result' \(answer)>\
                <query xmlns='http://jabber.org/protocol/disco#info'>\
                <identity category='server' type='im' name='Porchlight'/>\
                <feature var='http://jabber.org/protocol/disco#info'/>
                """))
        #expect(text.contains("<feature var='urn:xmpp:ping'/>"))
        #expect(!text.contains("jabber:iq:register"))
        #expect(
            try written {
                $0.appendServiceFeatures(head, to: alice, service, canChangePassword: true)
            }.contains("<feature var='jabber:iq:register'/>"))
        #expect(
            try written { $0.appendRegistrationForm(head, to: alice) }.hasSuffix(
                """
                <query xmlns='jabber:iq:register'>\
                <registered/><username>alice</username><password/></query></iq>
                """))
        #expect(
            try written { $0.appendAccountFeatures(head, to: alice) }
                .contains("<identity category='account' type='registered'/>"))
        #expect(
            try written { $0.appendNoItems(head, to: alice) }
                .hasSuffix("<query xmlns='http://jabber.org/protocol/disco#items'/></iq>"))
    }

    @Test func `writes errors of each kind of stanza`() throws {
        #expect(
            try written { $0.append(StanzaError.serviceUnavailable, head, to: alice) } == """
                <iq type='error' \(answer)><error type='cancel'>\
                <service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
                """)
        #expect(
            try written {
                $0.append(
                    StanzaError.badRequest("A & B"),
                    StanzaHead(.presence, to: bytes("b@c")), to: alice)
            } == """
                <presence type='error' from='b@c' to='alice@example.org/phone'>\
                <error type='modify'><bad-request xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>\
                <text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas' xml:lang='en'>A &amp; B</text>\
                </error></presence>
                """)
        #expect(
            try written {
                $0.append(
                    .serviceUnavailable,
                    StanzaHead(.message, id: bytes("1"), to: bytes("b@c")), to: alice)
            } == """
                <message type='error' id='1' from='b@c' to='alice@example.org/phone'>\
                <error type='cancel'>\
                <service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
                """)
    }

    @Test func `says what a quota counts`() {
        func text(_ reason: Rejection.Reason, _ field: Rejection.Field? = nil) -> String {
            StanzaError(Rejection(reason, field: field, limit: 7)).text
        }
        #expect(text(.contactQuota) == "The limit is 7 contacts of an account.")
        #expect(
            text(.contactQuota, .name)
                == "The limit is 7 bytes in the names and groups of all contacts of an account.")
        #expect(text(.requestQuota) == "The limit is 7 unanswered requests to an account.")
        #expect(text(.sessionQuota) == "The limit is 7 sessions of an account.")
    }

    @Test func `relays stanzas from their sender`() throws {
        let reader = XMLReader(hashSalt: 1)
        let text = bytes(
            """
            <iq xmlns:p='u' from='x@y' p:a='1' b='2' type='get' to='bob@example.org/x' id='1' \
            xml:lang='de'> <p:q c='&amp;'/></iq>
            """)
        let stanza = try reader.readStanza(text.span.bytes, in: .standard)
        let expected = """
            <iq from='alice@example.org/phone' to='bob@example.org/x' type='get' id='1' \
            xml:lang='de'><q xmlns='u' c='&amp;'/></iq>
            """
        var relayed = StanzaTemplate()
        // Both domains are those of the receiver, and are left out.
        let count = expected.utf8.count - 2 * domain.count
        let isTooLong = !relayed.appendRelayed(stanza, from: alice, bytesMax: count - 1)
        #expect(isTooLong)
        #expect(relayed == StanzaTemplate())
        let fits = relayed.appendRelayed(stanza, from: alice, bytesMax: count)
        #expect(fits)
        let output = try written { relayed.append(to: [], at: domain, into: &$0) }
        #expect(output == expected)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (951_782_400_000, "2000-02-29T00:00:00Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (-1, "1970-01-01T00:00:00Z"), (Int64.max, "9999-12-31T23:59:59Z"),
            (1_798_761_599_000, "2026-12-31T23:59:59Z"),
        ] as [(Int64, String)])
    func `writes times`(milliseconds: Int64, text: String) {
        var all: [UInt8] = []
        all.append(Wall(milliseconds: milliseconds))
        #expect(String(decoding: all, as: UTF8.self) == text)
    }
}
