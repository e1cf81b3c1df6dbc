import Testing

@testable import PresenceXMPP

/// Every phase is given every kind of input.
@Suite struct `Phase tests` {
    /// A phase, also with registration or without encryption.
    enum Situation: String, CaseIterable, Sendable {
        case clear, plaintext, secured, authenticated, bound, ended

        func peer() -> StreamPeer {
            let isEncrypted = self != .clear && self != .plaintext
            var peer = StreamPeer(isEncrypted: isEncrypted) {
                $0.allowsPlaintext = self == .plaintext
                $0.allowsRegistration = true
            }
            peer.receive(Client.header)
            if self == .authenticated || self == .bound || self == .ended {
                peer.receive(Client.login + Client.header)
            }
            if self == .bound || self == .ended { peer.receive(Client.bind) }
            if self == .ended { peer.receive(Client.end) }
            return peer
        }
    }

    enum Input: String, CaseIterable, Sendable {
        case startTLS, auth, response, abort, bind, session, registrationGet, registrationSet
        case iqGet, iqResult, iqOfNoType, message, presence, otherNamespace, unknown, error
        case clientState, management, compression
        case features, whiteSpace, text, comment, secondHeader, end

        var bytes: String {
            let sasl = "xmlns='urn:ietf:params:xml:ns:xmpp-sasl'"
            return switch self {
            case .startTLS: Client.startTLS
            case .auth: Client.login
            case .response: "<response \(sasl)/>"
            case .abort: "<abort \(sasl)/>"
            case .bind: Client.bind
            case .session: Client.session
            case .registrationGet: "<iq type='get' id='r'><query xmlns='jabber:iq:register'/></iq>"
            case .registrationSet:
                "<iq type='set' id='r'><query xmlns='jabber:iq:register'><username>n</username>"
                    + "<password>p</password></query></iq>"
            case .iqGet: "<iq type='get' id='p'><ping xmlns='urn:xmpp:ping'/></iq>"
            case .iqResult: "<iq type='result' id='p'/>"
            case .iqOfNoType: "<iq/>"
            case .message: "<message><body>hi</body></message>"
            case .presence: "<presence/>"
            case .otherNamespace: "<presence xmlns='jabber:server'/>"
            case .unknown: "<a xmlns='u'/>"
            case .clientState: "<inactive xmlns='urn:xmpp:csi:0'/>"
            case .management: "<enable xmlns='urn:xmpp:sm:3' resume='true'/>"
            case .compression: "<compress xmlns='http://jabber.org/protocol/compress'/>"
            case .error: "<stream:error/>"
            case .features: "<stream:features/>"
            case .whiteSpace: " \n"
            case .text: "text"
            case .comment: "<!-- -->"
            case .secondHeader: Client.header.replacing("<?xml version='1.0'?>", with: "") + " "
            case .end: Client.end
            }
        }
    }

    /// What is heard first, and a word of what is said.
    typealias Expected = (heard: String, said: String)

    private func error(_ condition: String) -> Expected {
        ("error \(condition)", "<stream:error><\(condition) ")
    }

    private func failure(_ condition: String) -> Expected {
        ("denied \(condition)", "<\(condition)/></failure>")
    }

    /// What does not depend on the phase.
    private func always(_ input: Input, isInClear: Bool = false) -> Expected? {
        switch input {
        case .error: ("end", "</stream:stream>")
        case .end: ("end", "</stream:stream>")
        case .whiteSpace: ("", "")
        case .text, .secondHeader: error("bad-format")
        case .comment: error("restricted-xml")
        case .clientState where !isInClear: ("say", "")
        case .compression where !isInClear: ("say", "<unsupported-method/></failure>")
        default: nil
        }
    }

    private func inClear(_ input: Input) -> Expected {
        switch input {
        case .startTLS: ("startTLS", "<proceed ")
        case .auth, .response, .abort: failure("encryption-required")
        default: error("policy-violation")
        }
    }

    private func beforeLogin(_ input: Input, isClear: Bool) -> Expected {
        switch input {
        case .startTLS: isClear ? ("startTLS", "<proceed ") : ("end", "<failure xmlns='urn:ietf:")
        case .auth: ("password alice pencil", "<success ")
        case .response: failure("malformed-request")
        case .abort: failure("aborted")
        case .registrationGet: ("say", "<username/>")
        case .registrationSet: ("register n", "<iq type='result' id='r'/>")
        case .otherNamespace, .unknown, .features: error("unsupported-stanza-type")
        case .management: ("say", "<failed xmlns='urn:xmpp:sm:3'><unexpected-request ")
        default: error("not-authorized")
        }
    }

    private func authenticated(_ input: Input) -> Expected {
        switch input {
        case .bind: ("bind phone", "<jid>alice@example.org/phone</jid>")
        case .management: ("say", "<failed xmlns='urn:xmpp:sm:3'><unexpected-request ")
        case .startTLS, .auth, .response, .abort, .otherNamespace, .unknown, .features:
            error("unsupported-stanza-type")
        default: error("not-authorized")
        }
    }

    private func bound(_ input: Input) -> Expected {
        switch input {
        case .bind: ("say", "<not-allowed ")
        case .session: ("say", "<iq type='result' id='s1'/>")
        case .management: ("managed", "<enabled xmlns='urn:xmpp:sm:3'/>")
        case .registrationGet, .iqGet, .iqResult: ("iq \(input.bytes)", "")
        // Of another account.
        case .registrationSet: ("rejected not-allowed", "<not-allowed ")
        case .iqOfNoType: ("rejected bad-request", "<bad-request ")
        case .message: ("message \(input.bytes)", "")
        case .presence: ("presence \(input.bytes)", "")
        default: error("unsupported-stanza-type")
        }
    }

    @Test(arguments: Situation.allCases, Input.allCases)
    func `each input in each phase`(situation: Situation, input: Input) {
        var peer = situation.peer()
        let before = peer.log.count
        let said = peer.receive(input.bytes)
        let heard = peer.log.dropFirst(before).first ?? ""
        let expected: Expected =
            switch situation {
            case .ended: ("", "")
            case .clear: always(input, isInClear: true) ?? inClear(input)
            case _ where always(input) != nil: always(input) ?? ("", "")
            case .plaintext: beforeLogin(input, isClear: true)
            case .secured: beforeLogin(input, isClear: false)
            case .authenticated: authenticated(input)
            case .bound: bound(input)
            }
        #expect(heard == expected.heard)
        #expect(expected.said.isEmpty ? said == "" : said.contains(expected.said))
        // What ends is ended, and nothing else is.
        let ends = ["end", "error"].contains { heard.hasPrefix($0) }
        #expect((peer.stream.phase == .ended) == (ends || situation == .ended))
        if ends { #expect(said.hasSuffix("</stream:stream>")) }
        if case .whiteSpace = input, situation != .ended { #expect(peer.keepAlives == 1) }
    }

    @Test func `features depend on phase and settings`() {
        func features(_ isEncrypted: Bool, _ change: (inout StreamSettings) -> Void) -> [String] {
            var peer = StreamPeer(isEncrypted: isEncrypted, change)
            let said = peer.receive(Client.header)
            return ["starttls", "required", "mechanisms", "register", "bind"].filter {
                said.contains("<\($0)")
            }
        }
        #expect(features(false) { _ in } == ["starttls", "required"])
        #expect(features(false) { $0.allowsPlaintext = true } == ["starttls", "mechanisms"])
        #expect(
            features(false) {
                $0.allowsPlaintext = true
                $0.offersTLS = false
                $0.allowsRegistration = true
            } == ["mechanisms", "register"])
        #expect(features(true) { $0.allowsRegistration = true } == ["mechanisms", "register"])
        #expect(features(true) { _ in } == ["mechanisms"])
    }
}
