import Foundation
import Testing

@testable import PresenceXMPP

@Suite struct `Names of accounts and JIDs` {
    @Test(arguments: [
        ("alice", "alice"), ("a.b-c_d", "a.b-c_d"), ("Bob", "\\42ob"), ("a b", "a\\20b"),
        ("a@b", "a\\40b"), ("\\", "\\5c"), ("\\40", "\\5c40"), ("o'neill", "o\\27neill"),
        ("d'Artagnan", "d\\27\\41rtagnan"), ("中文", "中文"), ("é", "é"), ("e\u{301}", "e\\cc\\81"),
        ("ß", "\\c3\\9f"), ("Å", "\\c3\\85"), ("٣", "\\d9\\a3"), ("😀", "\\f0\\9f\\98\\80"),
        ("u+1!#$%*,=", "u+1!#$%*,="), ("~", "\\7e"), ("ﬁ", "\\ef\\ac\\81"), ("ᄀ", "\\e1\\84\\80"),
        ("한", "한"), ("ς", "\\cf\\82"), ("σ", "σ"), ("ɏ", "\\c9\\8f"), ("שלום", "שלום"),
        ("של1", "\\d7\\a9\\d7\\9c1"), ("aש", "a\\d7\\a9"), ("ـ", "\\d9\\80"), ("々", "々"),
        ("علی۱", "\\d8\\b9\\d9\\84\\db\\8c\\db\\b1"),
    ])
    func `are mapped one to one`(account: String, localpart: String) {
        #expect(
            String(decoding: Localpart.localpart(of: bytes(account)), as: UTF8.self) == localpart)
        #expect(Localpart.account(of: bytes(localpart)) == bytes(account))
        // Capital letters of ASCII count as small ones.
        #expect(Localpart.account(of: bytes(localpart).map(upper)) == bytes(account))
    }

    private func upper(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & 0xDF : byte
    }

    @Test(arguments: [
        "", "\\", "\\4", "\\4g", "\\61", "a b", "a@b", "a/b", "\\20a", "a\\20", "\\00", "\\c2\\80",
        "\\c3\\a9", "\\c3", "e\u{301}", "ß", "É", "😀", "~", "a\\", "\\7f", "ﬁ", "\u{200B}",
    ])
    func `are rejected if they are not exactly those of an account`(localpart: String) {
        #expect(Localpart.account(of: bytes(localpart)) == nil)
    }

    @Test func `have no more than an account's bytes`() {
        #expect(Localpart.account(of: bytes(String(repeating: "a", count: 255))) != nil)
        #expect(Localpart.account(of: bytes(String(repeating: "a", count: 256))) == nil)
        #expect(Localpart.account(of: bytes(String(repeating: "\\41", count: 255))) != nil)
        #expect(Localpart.account(of: [0xFF]) == nil)
    }

    /// Every account has a local part, and that names the account again.
    @Test(arguments: 0..<50)
    func `are mapped back, whatever they are`(seed: UInt64) {
        var random = Lines(state: seed)
        for _ in 0..<200 {
            let name = random.name()
            let account = bytes(name)
            let localpart = Localpart.localpart(of: account)
            #expect(localpart.count <= 1_023)
            let isName = NameSyntax.admits(account)
            #expect(Localpart.account(of: localpart) == (isName ? account : nil), "\(name)")
            let resource = Resource.resource(of: account)
            #expect(resource.count <= 1_023)
            let isDevice = NameSyntax.admits(account)
            #expect(Resource.device(of: resource) == (isDevice ? account : nil), "\(name)")
            // And a local part that is taken is the one of its account.
            let mutated = random.mutated(localpart)
            if let other = Localpart.account(of: mutated) {
                let lowered = mutated.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
                #expect(Localpart.localpart(of: other) == lowered)
            }
        }
    }

    @Test(arguments: [JIDPart.localpart, .resource])
    func `have no character that a client's preparation changes`(part: JIDPart) {
        let changed = characters(of: part).filter { scalar in
            var prepared = String(scalar).precomposedStringWithCompatibilityMapping
            if part == .localpart { prepared = prepared.lowercased() }
            return !prepared.unicodeScalars.elementsEqual([scalar])
        }
        #expect(changed == [])
    }

    @Test(arguments: [JIDPart.localpart, .resource])
    func `have no character that composes with the one before it`(part: JIDPart) {
        let composing = (UInt32(0x80)...0x1_FFFF).compactMap { Unicode.Scalar($0) }.filter {
            scalar in
            let parts = String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars
            guard parts.count > 1, let last = parts.last else { return false }
            return part.isPlain(last)
        }
        #expect(composing == [])
    }

    /// Of so many, slixmpp and libidn (RFC 6122) and precis-i18n (RFC 8265) have accepted each one,
    /// and changed none.
    @Test(arguments: [(JIDPart.localpart, 86_009), (.resource, 86_801)])
    func `have characters that were tried with clients`(part: JIDPart, count: Int) {
        #expect(characters(of: part).count == count)
    }

    private func characters(of part: JIDPart) -> [Unicode.Scalar] {
        (UInt32(0x80)...0x10_FFFF).compactMap { Unicode.Scalar($0) }.filter { part.isPlain($0) }
    }

    @Test(arguments: [
        ("laptop", "laptop"), ("Ada’s laptop", "Ada’s laptop"), ("a\\b", "a\\5cb"),
        ("\\41", "\\5c41"), ("iOS V1.0/ä@x", "iOS V1.0/ä@x"), ("e\u{301}", "e\\cc\\81"),
        ("a\u{202E}b", "a\\e2\\80\\aeb"), ("\u{FFFE}", "\\ef\\bf\\be"), ("ﬁ", "\\ef\\ac\\81"),
        ("\u{FFFD}", "\\ef\\bf\\bd"), ("שלום", "שלום"), ("ש 1", "\\d7\\a9 1"), ("ÄΩЖ", "ÄΩЖ"),
        ("\u{2126}", "\\e2\\84\\a6"), ("\u{1FAE8}", "\\f0\\9f\\ab\\a8"), ("<&'>", "<&'>"),
    ])
    func `of devices are mapped one to one`(device: String, resource: String) {
        let written = Resource.resource(of: bytes(device))
        #expect(String(decoding: written, as: UTF8.self) == resource)
        #expect(Resource.device(of: written) == bytes(device))
        #expect(Resource.device(wished: written) == bytes(device))
    }

    @Test(arguments: [
        "\\", "\\41", "e\u{301}", "a\u{202E}b", "\\c3\\a4", "\\0a", "\\5C", "ש 1", "ﬁ",
    ])
    func `of devices are rejected if they are not exactly those of one`(resource: String) {
        #expect(Resource.device(of: bytes(resource)) == nil)
    }

    @Test(arguments: [("\\41", "\\41"), ("e\u{301}", "e\u{301}"), ("\\5c41", "\\41")])
    func `of devices are what a client wishes`(wished: String, device: String) throws {
        let given = try #require(Resource.device(wished: bytes(wished)))
        #expect(given == bytes(device))
        // A client that wishes what it was given is the same device.
        #expect(Resource.device(wished: Resource.resource(of: given)) == given)
        #expect(Resource.device(wished: bytes(" a")) == nil)
    }

    @Test(
        arguments: [
            ("example.org", nil, "example.org", nil), ("a@Example.ORG.", "a", "example.org", nil),
            ("a@b/c", "a", "b", "c"), ("b/c@d/e", nil, "b", "c@d/e"),
            ("a@192.0.2.1/x", "a", "192.0.2.1", "x"),
            ("a@[::1]", "a", "[::1]", nil),
        ] as [(String, String?, String, String?)])
    func `are parts of JIDs`(
        text: String, localpart: String?, domain: String, resource: String?
    ) throws {
        let jid = try #require(JID(bytes(text)))
        #expect(jid.localpart == localpart.map(bytes))
        #expect(jid.domain == bytes(domain))
        #expect(jid.resource == resource.map(bytes))
    }

    @Test(arguments: [
        "", "@b", "a@", "a@b/", "/c", "a@b c", "a@b@c", "a@b'", ".", "a..", ".a", "a..b",
    ])
    func `are not in texts that are no JIDs`(text: String) {
        #expect(JID(bytes(text)) == nil)
    }

    @Test func `of devices are resources`() {
        #expect(NameSyntax.admits(bytes("iOS V1.0/ä")))
        #expect(!NameSyntax.admits(bytes(" a")))
        #expect(!NameSyntax.admits(bytes("a\u{85}b")))
        #expect(!NameSyntax.admits(bytes(String(repeating: "a", count: 256))))
    }
}

/// Makes names. The state is the seed.
private struct Lines {
    var state: UInt64

    mutating func below(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % count
    }

    mutating func name() -> String {
        var text = ""
        for _ in 0...below(12) {
            switch below(5) {
            case 0:
                text += ["\\", "\\40", "\\5c", "@", " ", "/", "'", "\u{301}", "\u{1160}"][below(9)]
            case 1: text += String(UnicodeScalar(UInt8(below(0x60) + 0x20)))
            case 2: text += Unicode.Scalar(UInt32(below(0x3_0000))).map { String($0) } ?? ""
            default: text += ["a", "b", "Z", "é", "中", "0"][below(6)]
            }
        }
        return text
    }

    mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let place = below(bytes.count + 1)
        switch below(3) {
        case 0: bytes.insert(UInt8(below(256)), at: place)
        case 1: bytes.insert(contentsOf: Array("\\6\(below(10))".utf8), at: place)
        default: if place < bytes.count { bytes[place] = UInt8(below(128)) }
        }
        return bytes
    }
}
