import Containers
import Passwords
import XML

// Passwords of an XMPP client: how it proves that it has one, registers an account, and changes its
// own.

extension SimulatedXMPPClient {
    /// What it shows as a password.
    struct Credential {
        var secret = "x"
        /// When it ends; nil: never, since it is a password or the service believes everybody.
        var ends: Int64?
        /// The hash function of SCRAM; nil: PLAIN.
        var hash: ScramHash?
        /// What was known of the password when it was typed; nil: that is not a password.
        var known: KnownPassword?
    }

    /// An account that it registers.
    struct Registration {
        let account: String
        let password: String
        /// What was known of its password before; nil: nothing.
        let known: KnownPassword?
    }

    // MARK: Authentication

    /// The first message of an authentication.
    func authenticationStart() -> String {
        guard let hash = credential.hash else {
            scram = nil
            return auth("PLAIN", "\0\(account)\0\(credential.secret)")
        }
        lastNonce += 1
        let exchange = SimulatedScram(
            hash, account: account, password: credential.secret,
            nonce: "\(idPrefix)nonce-\(lastNonce)")
        scram = exchange
        return auth(exchange.mechanism, exchange.firstMessage)
    }

    private func auth(_ mechanism: String, _ message: String) -> String {
        """
        <auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' \
        mechanism='\(mechanism)'>\(message.base64)</auth>
        """
    }

    func hearChallenge(_ challenge: XMLElement) {
        let text = Base64.decoded(challenge.text).map { String(decoding: $0, as: UTF8.self) }
        guard phase == .authenticating, let text,
            let final = scram?.finalMessage(to: text, salted)
        else { return violations.append("challenged with \(text ?? "nothing") while \(phase)") }
        // Now and then it gives up.
        guard !lastNonce.isMultiple(of: 6) else {
            return reply("<abort xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")
        }
        let response = final.base64
        reply("<response xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\(response)</response>")
    }

    /// It is authenticated: the service has to have proved that it knows the password, too.
    func checkSuccess(_ success: XMLElement) {
        let message = Base64.decoded(success.text) ?? []
        let expected = scram.map { "v=\($0.serverSignature ?? "")" } ?? ""
        if String(decoding: message, as: UTF8.self) != expected {
            violations.append("authenticated by a service that does not know its password")
        }
        meet("authenticated by \(scram?.mechanism ?? "PLAIN")")
        noteLogin(isAccepted: true)
    }

    /// Notes whether its password was the right one.
    func noteLogin(isAccepted: Bool) {
        guard let known = credential.known else { return }
        let mechanism = scram?.mechanism ?? "PLAIN"
        meet("\(isAccepted ? "right" : "wrong") password by \(mechanism)")
        passwordOutcomes.append(.login(typed: credential.secret, known: known, isAccepted))
    }

    /// The mechanisms of the features are those of the configuration.
    func checkMechanisms(_ features: XMLElement) {
        let offered = features.first("mechanisms", in: "urn:ietf:params:xml:ns:xmpp-sasl")?
            .elements.map { String(decoding: $0.text, as: UTF8.self) }
        let expected = takesScram ? ["SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN"] : ["PLAIN"]
        guard offered != expected else { return }
        violations.append("is offered \(offered ?? [])")
    }

    // MARK: Registration

    /// Registers an account instead of authenticating.
    func register(_ registration: Registration) -> [UInt8] {
        beginRegistration(registration)
        return Array(stanza(of: registration, id: "register").utf8)
    }

    private func stanza(of registration: Registration, id: String) -> String {
        """
        <iq type='set' id='\(id)'><query xmlns='jabber:iq:register'>\
        <username>\(registration.account)</username>\
        <password>\(registration.password)</password></query></iq>
        """
    }

    func hearRegistered(_ iq: XMLElement, isError: Bool) {
        guard let registration = endRegistration() else {
            return violations.append("registered while \(phase)")
        }
        let condition = isError ? iq.nameOfError : "done"
        meet("register \(condition)")
        switch condition {
        case _ where !allowsRegistration:
            if condition == "not-allowed" { return }
            violations.append("registered where that is not allowed: \(condition)")
        case "done":
            passwordOutcomes.append(.registered(registration))
        case "conflict": passwordOutcomes.append(.nameTaken(registration))
        case "policy-violation", "internal-server-error":
            passwordOutcomes.append(.rejected(account: registration.account))
        default: violations.append("not registered: \(condition)")
        }
    }

    // MARK: Change

    /// Whether it may change the password of its account.
    var mayChangePassword: Bool { takesPasswords && tokenEnds == nil }

    /// Changes the password of its account, or asks for that in vain.
    func changePassword(_ password: String) -> [UInt8] {
        let id = ask(.changePassword(password))
        let change = Registration(account: account, password: password, known: nil)
        return Array(stanza(of: change, id: id).utf8)
    }

    /// Its password is changed.
    func hearChanged(_ password: String) {
        meet("changed own password")
        guard mayChangePassword else {
            return violations.append("changed a password with a token")
        }
        passwordOutcomes.append(.changed(account: account, password: password))
    }

    /// Its password is not changed.
    func hearNotChanged(_ condition: String) {
        meet("own password \(condition)")
        guard mayChangePassword else {
            if condition == "not-allowed" { return }
            return violations.append("a change of a password was rejected: \(condition)")
        }
        if condition == "not-allowed" { violations.append("may not change its password") }
        passwordOutcomes.append(.rejected(account: account))
    }
}

extension String {
    fileprivate var base64: String {
        String(decoding: Base64.encoded(Array(utf8)), as: UTF8.self)
    }
}
