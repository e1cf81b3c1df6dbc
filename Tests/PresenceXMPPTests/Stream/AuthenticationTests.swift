import Containers
import Passwords
import Testing

@testable import PresenceXMPP

@Suite struct `Authentication tests` {
    private func failure(_ name: String) -> String {
        "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><\(name)/></failure>"
    }

    private func peer(_ change: (inout StreamSettings) -> Void = { _ in }) -> StreamPeer {
        var peer = StreamPeer(isEncrypted: true, change)
        peer.receive(Client.header)
        return peer
    }

    @Test func `PLAIN asks for the password`() {
        var peer = peer()
        #expect(peer.receive(Client.plain("Alice", "pencil")).hasPrefix("<success"))
        #expect(peer.log.contains("password alice pencil"))
        #expect(peer.stream.phase == .authenticated)
        #expect(peer.stream.account == bytes("alice"))
    }

    @Test func `PLAIN without an initial response`() {
        var peer = peer()
        #expect(
            peer.receive(Client.auth("PLAIN", ""))
                == "<challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'></challenge>")
        #expect(
            peer.receive(Client.response(base64("\0alice\0pencil"))).hasPrefix("<success"))
    }

    /// Encoders of MIME break lines.
    @Test func `base64 may have white space`() throws {
        let parts = ["", "AGFsaWNl", "AHBlbmNpbA==", ""]
        for white in [" ", "\n", "\r\n", "\t", "&#13;&#10;"] {
            let data = parts.joined(separator: white)
            var peer = peer()
            #expect(peer.receive(Client.auth("PLAIN", data)).hasPrefix("<success"))
            var other = self.peer()
            #expect(other.receive(Client.auth("PLAIN", white)).hasPrefix("<challenge"))
            #expect(other.receive(Client.response(data)).hasPrefix("<success"))
        }
        var scram = peer()
        let first = base64("n,,n=alice,r=abc")
        let halves = "\(first.prefix(8))\n\(first.dropFirst(8))"
        #expect(scram.receive(Client.auth("SCRAM-SHA-1", halves)).hasPrefix("<challenge"))
    }

    @Test(arguments: [
        ("", true), ("alice@example.org", true), ("ALICE@example.org", true), ("alice", false),
        ("bob@example.org", false), ("alice@192.168.1.1", false), ("alice@example.org/x", false),
        ("@example.org", false),
    ])
    func `accounts act for themselves only`(authorization: String, isAccepted: Bool) {
        var plain = peer()
        let said = plain.receive(
            Client.auth("PLAIN", base64("\(authorization)\0alice\0pencil")))
        #expect(said.hasPrefix(isAccepted ? "<success" : failure("invalid-authzid")))
        var scram = peer()
        let field = authorization.isEmpty ? "" : "a=\(authorization)"
        let answer = scram.receive(
            Client.auth("SCRAM-SHA-1", base64("n,\(field),n=alice,r=abc")))
        #expect(answer.hasPrefix(isAccepted ? "<challenge" : failure("invalid-authzid")))
    }

    @Test(arguments: [
        (Client.auth("DIGEST-MD5", ""), "invalid-mechanism"),
        (Client.auth("plain", base64("\0alice\0pencil")), "invalid-mechanism"),
        (Client.auth("SCRAM-SHA-256-PLUS", base64("n,,n=alice,r=x")), "invalid-mechanism"),
        ("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>AA==</auth>", "invalid-mechanism"),
        (Client.auth("PLAIN", "AGFsaWNl\u{A0}AHBlbmNpbA=="), "incorrect-encoding"),
        (Client.auth("PLAIN", "***"), "incorrect-encoding"),
        (Client.auth("PLAIN", "="), "malformed-request"),
        (Client.auth("PLAIN", base64("alice\0pencil")), "malformed-request"),
        (Client.plain("alice", "wrong"), "not-authorized"),
        (Client.plain("nobody", "pencil"), "not-authorized"),
        (Client.plain("a b", "pencil"), "not-authorized"),
        (Client.plain("alice@example.org", "pencil"), "not-authorized"),
        (Client.auth("SCRAM-SHA-1", base64("p=tls-unique,,n=alice,r=x")), "malformed-request"),
        (Client.auth("SCRAM-SHA-1", base64("n,,n=alice")), "malformed-request"),
        (Client.response(""), "malformed-request"), (Client.response("*"), "incorrect-encoding"),
        ("<abort xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>", "aborted"),
    ])
    func `failures`(sent: String, condition: String) {
        var peer = peer()
        #expect(peer.receive(sent) == failure(condition))
        // The client has other chances, but not many.
        #expect(!peer.isEnded)
        #expect(peer.receive(sent) == failure(condition))
        let last = peer.receive(sent)
        #expect(last.hasPrefix(failure(condition) + "<stream:error><policy-violation"))
        #expect(peer.isEnded)
    }

    @Test func `a failure does not spoil the next attempt`() {
        var peer = peer()
        peer.receive(Client.plain("alice", "wrong"))
        peer.receive(Client.auth("SCRAM-SHA-1", "*"))
        #expect(peer.receive(Client.login).hasPrefix("<success"))
    }

    @Test func `an exchange ends with the next auth`() {
        var peer = peer()
        let first = Client.auth("SCRAM-SHA-1", base64("n,,n=alice,r=x"))
        #expect(peer.receive(first).hasPrefix("<challenge"))
        #expect(peer.receive(first) == failure("malformed-request"))
        #expect(peer.receive(first).hasPrefix("<challenge"))
        #expect(peer.receive(first) == failure("malformed-request"))
        #expect(peer.receive(first).hasPrefix("<challenge"))
        #expect(peer.receive(first).hasPrefix(failure("malformed-request") + "<stream:error>"))
    }

    @Test(arguments: SASLFailure.allCases) func `the owner rejects`(reason: SASLFailure) {
        var peer = peer()
        peer.answers = false
        peer.receive(Client.login)
        guard case .denied(reason, nil) = peer.stream.reject(reason) else {
            Issue.record("not denied")
            return
        }
        #expect(text(peer.stream.takeOutput()) == failure(reason.rawValue))
        #expect(peer.stream.phase == .secured)
    }

    @Test(arguments: ScramHash.allCases) func `SCRAM`(hash: ScramHash) throws {
        for (name, password, isRight) in [
            ("alice", "pencil", true), ("alice", "wrong", false), ("nobody", "pencil", false),
        ] {
            var peer = peer()
            let said = try converse(&peer, hash, name, password)
            #expect(said.hasPrefix(isRight ? "<success" : failure("not-authorized")))
            #expect((peer.stream.phase == .authenticated) == isRight)
        }
    }

    /// The same salt, however often one asks.
    @Test func `a name without an account looks like one with`() {
        func challenge(_ name: String) -> [Substring] {
            var peer = peer()
            let said = peer.receive(
                Client.auth("SCRAM-SHA-256", base64("n,,n=\(name),r=x")))
            let data = said.split(separator: ">")[1].split(separator: "<")[0]
            return text(Base64.decoded(data.utf8) ?? []).split(separator: ",")
        }
        #expect(challenge("nobody")[1...] == challenge("nobody")[1...])
        #expect(challenge("nobody")[1] != challenge("nothing")[1])
        #expect(challenge("nobody")[1].count == challenge("alice")[1].count)
    }

    @Test func `only what is offered`() {
        var peer = peer { $0.mechanisms = [.plain] }
        #expect(
            peer.receive(Client.auth("SCRAM-SHA-1", base64("n,,n=alice,r=x")))
                == failure("invalid-mechanism"))
        peer = self.peer { $0.mechanisms = [.scramSHA1] }
        #expect(peer.receive(Client.login) == failure("invalid-mechanism"))
    }

    @Test func `registration before the login`() {
        var peer = StreamPeer { $0.allowsRegistration = true }
        #expect(
            peer.receive(Client.header).contains(
                "<register xmlns='http://jabber.org/features/iq-register'/>"))
        func set(_ fields: String, id: String = "") -> String {
            "<iq type='set'\(id)><query xmlns='jabber:iq:register'>\(fields)</query></iq>"
        }
        #expect(
            peer.receive("<iq type='get' id='r1'><query xmlns='jabber:iq:register'/></iq>") == """
                <iq type='result' id='r1'><query xmlns='jabber:iq:register'>\
                <instructions>Choose a name and a password.</instructions>\
                <username/><password/></query></iq>
                """)
        let bob = "<username>Bob</username><password>pencil</password>"
        // XMPPFramework sends no id.
        #expect(peer.receive(set(bob)) == "<iq type='result'/>")
        #expect(
            peer.receive(set(bob, id: " id='r2'")) == """
                <iq type='error' id='r2'><error type='cancel'><conflict \
                xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
                """)
        for fields in [
            "", "<username>carol</username>", "<password>x</password>",
            "<username/><password>x</password>", "<username>carol</username><password/>",
            "<username>ca rol</username><password>x</password>",
            "<username>carol</username><password>&#x200D;</password>",
        ] {
            #expect(peer.receive(set(fields)).contains("<not-acceptable "))
        }
        #expect(!peer.isEnded)
        #expect(peer.receive(Client.plain("bob", "pencil")).hasPrefix("<success"))
    }

    @Test(arguments: [
        ("", "A registration needs a `username`."), ("ca rol", "a space as \\20."),
        ("a@b", "letters, digits and !#$%*+,-.=_ only"),
        (String(repeating: "a", count: 129), "A name has at most 128 bytes."),
    ])
    func `registration tells what is wrong with a name`(name: String, reason: String) {
        var peer = StreamPeer { $0.allowsRegistration = true }
        peer.receive(Client.header)
        let answer = peer.receive(
            "<iq type='set' id='r1'><query xmlns='jabber:iq:register'><username>\(name)</username>"
                + "<password>secret</password></query></iq>")
        #expect(answer.contains("<not-acceptable ") && answer.contains(reason), "\(answer)")
    }

    /// Keys are of the form that SASLprep makes.
    @Test(arguments: [
        ("secret", "<iq type='result' id='r1'/>"),
        ("密码", "<iq type='result' id='r1'/>"),
        ("密码１２３", Password.Remark.isChanged.sentence),
        ("😀", Password.Remark.hasNewCharacters.sentence),
        ("&#1488;1", PasswordError.mixedDirections.sentence),
        ("a&#9;", PasswordError.forbiddenCharacter.sentence), ("", PasswordError.empty.sentence),
    ])
    func `registration tells what is to be known of the password`(
        typed: String, said: String
    ) {
        var peer = StreamPeer { $0.allowsRegistration = true }
        peer.receive(Client.header)
        let answer = peer.receive(
            "<iq type='set' id='r1'><query xmlns='jabber:iq:register'><username>zoe</username>"
                + "<password>\(typed)</password></query></iq>")
        #expect(answer.contains(said))
        #expect(answer.contains("type='result'") == peer.log.contains("register zoe"))
    }

    @Test func `no registration if it is off`() {
        var peer = peer()
        let set = "<iq type='set' id='r1'><query xmlns='jabber:iq:register'/></iq>"
        #expect(peer.receive(set).contains("<not-allowed "))
        #expect(!peer.isEnded)
    }

    private func converse(
        _ peer: inout StreamPeer, _ hash: ScramHash, _ name: String, _ password: String
    ) throws -> String {
        let bare = "n=\(name),r=clientNonce"
        let mechanism = hash == .sha1 ? "SCRAM-SHA-1" : "SCRAM-SHA-256"
        let said = peer.receive(Client.auth(mechanism, base64("y,," + bare)))
        let data = try #require(
            said.split(separator: ">").dropFirst().first?.split(separator: "<").first)
        let challenge = try #require(Base64.decoded(data.utf8))
        let final = try ScramProof(hash: hash, password: password).message(
            bare: bare, header: "y,,", challenge: text(challenge))
        return peer.receive(Client.response(base64(final)))
    }
}
