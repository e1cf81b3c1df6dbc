import PresenceCore
import Testing

@testable import PresenceXMPP

@Suite struct `Decoding presence` {
    @Test func `reads what a device shows`() throws {
        #expect(try request("<presence/>") == .show(Availability()))
        #expect(
            try request(
                """
                <presence xml:lang='de'><show>away</show><status>Bin gleich zurück</status>\
                <status xml:lang='en'>Back soon</status><priority> -5\n</priority>\
                <c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='n' ver='v'/>\
                </presence>
                """)
                == .show(
                    Availability(
                        show: .away, priority: -5, text: bytes("Bin gleich zurück"),
                        language: bytes("de"),
                        extra: bytes(
                            """
                            <status xml:lang='en'>Back soon</status>\
                            <c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='n' \
                            ver='v'/>
                            """))))
        #expect(
            try request("<presence type='unavailable'><status>Bye</status></presence>")
                == .hide(Availability(text: bytes("Bye"), language: bytes("en"))))
    }

    @Test(
        arguments: zip(
            ["chat", "away", "xa", "dnd", ""], [Show.chat, .away, .xa, .dnd, .available]))
    func `knows the words of show`(word: String, show: Show) throws {
        #expect(
            try request("<presence><show>\(word)</show></presence>")
                == .show(Availability(show: show)))
    }

    /// A device whose presence is rejected stays offline, and its user does not know.
    @Test(arguments: [
        ("<show>online</show>", Availability()), ("<show>在线</show>", Availability()),
        ("<show> </show>", Availability()), ("<show> away\n</show>", Availability(show: .away)),
        ("<show>away</show><show>xa</show>", Availability(show: .away)),
        ("<show>busy</show><show>xa</show>", Availability(show: .xa)),
        ("<priority>128</priority>", Availability(priority: 127)),
        ("<priority>-129</priority>", Availability(priority: -128)),
        ("<priority>+00000000005</priority>", Availability(priority: 5)),
        ("<priority>99999999999999999999</priority>", Availability(priority: 127)),
        ("<priority>-99999999999999999999</priority>", Availability(priority: -128)),
        ("<priority>x</priority>", Availability()), ("<priority>-</priority>", Availability()),
        ("<priority>1.5</priority>", Availability()), ("<priority/>", Availability()),
        ("<priority>1</priority><priority>2</priority>", Availability(priority: 1)),
        ("<priority/><priority>2</priority>", Availability(priority: 2)),
        ("<status/>", Availability()),
        (
            "<status/><status>Hi</status>",
            Availability(text: bytes("Hi"), language: bytes("en"))
        ),
    ])
    func `leaves out what is no value`(content: String, availability: Availability) throws {
        #expect(try request("<presence>\(content)</presence>") == .show(availability))
        #expect(
            try request("<presence to='bob@example.org'>\(content)</presence>")
                == .direct(account: bytes("bob"), device: nil, .available(availability)))
    }

    @Test(arguments: [
        // Three bytes each; four; a family, which is one character; a letter with marks.
        (String(repeating: "汉", count: 342), String(repeating: "汉", count: 341)),
        (String(repeating: "😀", count: 257), String(repeating: "😀", count: 256)),
        (
            String(repeating: "a", count: 1_010) + "👨‍👩‍👧",
            String(repeating: "a", count: 1_010)
        ),
        (
            String(repeating: "a", count: 1_022) + "e\u{301}\u{302}",
            String(repeating: "a", count: 1_022)
        ),
        // A character that does not fit by itself.
        (
            "e" + String(repeating: "\u{301}", count: 600),
            "e" + String(repeating: "\u{301}", count: 511)
        ),
    ])
    func `cuts a status at a character`(text: String, kept: String) throws {
        let availability = Availability(text: bytes(kept), language: bytes("en"))
        #expect(
            try request("<presence><status>\(text)</status></presence>") == .show(availability))
        #expect(
            try request("<presence type='unavailable'><status>\(text)</status></presence>")
                == .hide(availability))
    }

    @Test func `drops what only the service may say`() throws {
        #expect(
            try request(
                """
                <presence><value xmlns='urn:porchlight:status:0' value='10001'/>\
                <delay xmlns='urn:xmpp:delay' stamp='2002-09-10T23:08:25Z'/></presence>
                """) == .show(Availability()))
    }

    @Test func `holds its limits`() throws {
        func status(_ count: Int) -> String {
            "<status>\(String(repeating: "a", count: count))</status>"
        }
        func extra(_ count: Int) -> String {
            "<x xmlns='u'>\(String(repeating: "a", count: count - 17))</x>"
        }
        func shown(_ content: String) throws -> Availability? {
            guard case .show(let shown) = try request("<presence>\(content)</presence>") else {
                return nil
            }
            return shown
        }
        #expect(try shown(status(1_024))?.text?.count == 1_024)
        #expect(try shown(status(1_025))?.text?.count == 1_024)
        #expect(try shown(extra(4_090))?.extra.count == 4_090)
        #expect(try shown(extra(4_110)) == Availability())
        // What fits beside it is kept.
        #expect(try shown(extra(4_110) + extra(50))?.extra.count == 50)
        func content(_ content: String) throws -> RequestContent? {
            let word = "<presence type='subscribe' to='bob@example.org'>\(content)</presence>"
            guard case .relate(_, .say(.subscribe, let said)) = try request(word) else {
                return nil
            }
            return said
        }
        #expect(try content(status(512))?.text?.count == 512)
        #expect(try content(status(513))?.text?.count == 512)
        #expect(try content(extra(1_020))?.extra.count == 1_020)
        #expect(try content(extra(1_030)) == RequestContent.none)
        // What goes with other words is dropped.
        let other = "<presence type='subscribed' to='bob@example.org'>"
        #expect(try request("\(other)\(extra(5_000))</presence>") != nil)
    }

    /// Others would go on seeing the device.
    @Test(arguments: ["", " to='bob@example.org'"])
    func `never rejects a farewell`(address: String) throws {
        let long = String(repeating: "a", count: 5_000)
        let stanza = """
            <presence type='unavailable'\(address)><priority/><show>x</show>\
            <status>\(long)</status>\
            <x xmlns='u'>\(long)</x><y xmlns='u'/><show/></presence>
            """
        let farewell = Availability(
            text: bytes(String(long.prefix(1_024))), language: bytes("en"),
            extra: bytes("<y xmlns='u'/>"))
        #expect(
            try request(stanza)
                == (address.isEmpty
                    ? .hide(farewell)
                    : .direct(
                        account: bytes("bob"), device: nil, .unavailable(farewell: farewell))))
    }

    @Test func `holds the limits of the service`() throws {
        var limits = Limits()
        limits.accountBytesMax = 3
        limits.deviceBytesMax = 2
        limits.requestTextBytesMax = 1
        limits.availabilityTextBytesMax = 4
        func error(_ text: String) throws -> StanzaError.Condition? {
            guard case .rejected(let error, _) = try decode(text, limits) else { return nil }
            return error.condition
        }
        guard
            case .request(.show(let shown), _) = try decode(
                "<presence><status>12345</status></presence>", limits)
        else { throw NoRequestError() }
        #expect(shown.text == bytes("1234"))
        let word = "<presence type='subscribe' to="
        guard
            case .request(.relate(_, .say(_, let said)), _) = try decode(
                "\(word)'bob@example.org'><status>12</status></presence>", limits)
        else { throw NoRequestError() }
        #expect(said.text == bytes("1"))
        #expect(try error("\(word)'eve1@example.org'/>") == .jidMalformed)
        let ping = "<ping xmlns='urn:xmpp:ping'/>"
        #expect(try error("<iq type='get' id='1' to='bob@example.org/ab'>\(ping)</iq>") == nil)
        #expect(
            try error("<iq type='get' id='1' to='bob@example.org/abc'>\(ping)</iq>")
                == .serviceUnavailable)
    }

    @Test func `passes all content of a request on`() throws {
        let nick = "<nick xmlns='http://jabber.org/protocol/nick'>Al</nick>"
        let other = "<status xml:lang='de'>Hallo</status>"
        let stanza = """
            <presence type='subscribe' to='bob@example.org'> <p:nick \
            xmlns:p='http://jabber.org/protocol/nick'>Al</p:nick><status>Hi</status>\(other)\
            <delay xmlns='urn:xmpp:delay' stamp='x'/></presence>
            """
        let content = RequestContent(text: bytes("Hi"), extra: bytes(nick + other))
        #expect(
            try request(stanza)
                == .relate(account: bytes("bob"), .say(.subscribe, content)))
    }

    @Test(arguments: RelationWord.allCases)
    func `reads the words of relationships`(word: RelationWord) throws {
        let isRequest = word == .subscribe
        for to in ["bob@example.org", "BOB@example.org/phone", "bob@192.0.2.1"] {
            #expect(
                try request("<presence type='\(word)' to='\(to)'><status>Hi</status></presence>")
                    == .relate(
                        account: bytes("bob"),
                        .say(word, text: isRequest ? bytes("Hi") : nil)))
        }
        #expect(try rejection("<presence type='\(word)'/>") == .badRequest())
        #expect(
            try rejection("<presence type='\(word)' to='alice@example.org'/>") == .badRequest())
        #expect(
            try rejection("<presence type='\(word)' to='bob@other.example'/>")
                == .init(.cancel, .remoteServerNotFound))
        #expect(
            try rejection("<presence type='\(word)' to='b ob@example.org'/>") == .jidMalformed)
        #expect(
            try rejection("<presence type='\(word)' to='example.org'/>") == .serviceUnavailable)
    }

    @Test func `reads presence for one account`() throws {
        #expect(
            try request("<presence to='bob@example.org'/>")
                == .direct(account: bytes("bob"), device: nil, .available(Availability())))
        #expect(
            try request("<presence to='bob@example.org'><show>away</show><x xmlns='u'/></presence>")
                == .direct(
                    account: bytes("bob"), device: nil,
                    .available(Availability(show: .away, extra: bytes("<x xmlns='u'/>")))))
        #expect(
            try request(
                "<presence to='bob@example.org/a b' type='unavailable' xml:lang='en'>"
                    + "<status>bye</status></presence>")
                == .direct(
                    account: bytes("bob"), device: bytes("a b"),
                    .unavailable(
                        farewell: Availability(text: bytes("bye"), language: bytes("en")))))
        #expect(
            try request("<presence to='bob@example.org' type='probe'/>")
                == .probe(account: bytes("bob")))
        #expect(try request("<presence to='example.org'/>") == .ignore)
        #expect(try request("<presence type='probe'/>") == .ignore)
    }

    @Test func `ignores errors`() throws {
        #expect(try request("<presence type='error' to='bob@other.example'/>") == .ignore)
    }

    /// Applications send them as their only presence, and other services take them.
    @Test(arguments: [
        ("", Show.available), ("available", .available), ("Available", .available),
        ("online", .available), ("invisible", .available), ("do not disturb", .available),
        ("在线", .available), ("away", .away), ("xa", .xa), ("dnd", .dnd), ("chat", .chat),
    ])
    func `takes a type that is none for an available device`(type: String, show: Show) throws {
        let start = "<presence type='\(type)'"
        #expect(try request("\(start)/>") == .show(Availability(show: show)))
        #expect(
            try request("\(start) to='bob@example.org'/>")
                == .direct(
                    account: bytes("bob"), device: nil, .available(Availability(show: show))))
        #expect(
            try request("\(start)><show>busy</show><show>xa</show></presence>")
                == .show(Availability(show: .xa)))
        #expect(try request("\(start)><show/></presence>") == .show(Availability()))
        #expect(
            try request("\(start)><show>busy</show></presence>") == .show(Availability(show: show)))
    }

    @Test func `takes empty addresses for none`() throws {
        #expect(try request("<presence from='' to=''/>") == .show(Availability()))
        #expect(
            try request("<presence to='' type='unavailable'/>") == .hide(Availability()))
        #expect(try rejection("<presence to='' type='subscribe'/>") == .badRequest())
        let query = "<query xmlns='jabber:iq:roster'/>"
        #expect(try request("<iq type='get' id='1' from=''>\(query)</iq>") == .listContacts)
        #expect(try rejection("<iq type='get' id='1' to=''>\(query)</iq>") == .jidMalformed)
        #expect(try rejection("<message to=''><body>Hi</body></message>") == .jidMalformed)
    }

    private struct NoRequestError: Error {}
}
