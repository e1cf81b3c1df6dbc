import Passwords
import PresenceCore
import PresenceXMPP

// How XMPP clients prove to be an account, and register one.

extension ConnectionLoop where Link: ~Copyable {
    /// Has the engine host decide whether a client is the account that it names.
    mutating func authenticate(
        _ authentication: Authentication, _ client: XMPPConnection, in slot: Int
    ) {
        let (account, proof) = authentication.parts
        guard account.count <= configuration.engine.limits.accountBytesMax else {
            return refuse(client, in: slot, .notAuthorized)
        }
        wait(slot, for: .authentication)
        inbound.append(
            .authenticate(
                XMPPAuthentication(
                    connection: connectionID(slot), account: account, proof: proof,
                    origin: origin(of: slot))))
    }

    /// Has the engine host register an account.
    mutating func register(_ account: [UInt8], _ password: Password, in slot: Int) {
        changePassword(of: account, .register(password), in: slot, for: .registration)
    }

    /// Goes on with what a client has waited for.
    mutating func take(_ answer: CredentialAnswer, for slot: Int) {
        guard let client = xmpp?[slot], let request = client.inProgress,
            connections[slot].phase != .closing
        else { return }
        client.inProgress = nil
        switch (request, answer) {
        case (.authentication, .claimed):
            counters.xmppLogins.count(.claimed)
            client.stream.authenticated()
        case (.authentication, .token(let term)):
            client.term = term
            counters.xmppLogins.count(.token)
            client.stream.authenticated()
        case (.authentication, .password):
            counters.xmppLogins.count(.password)
            client.stream.authenticated()
        case (.authentication, .keys(let keys)):
            var random = SystemRandomNumberGenerator()
            client.stream.challenge(with: keys, using: &random)
        case (.registration, .registered):
            client.stream.registered()
        case (.registration, .nameTaken):
            client.stream.refuse(registration: .nameTaken)
        case (.registration, .registrationsFull):
            client.stream.refuse(
                registration: StanzaError(.wait, .resourceConstraint, "No account is free."))
        default: preconditionFailure("credentials that were not asked for")
        }
        say(slot)
        settle(slot)
    }

    /// Refuses an authentication. After the last chance, the stream has ended.
    mutating func refuse(
        _ client: XMPPConnection, in slot: Int, _ failure: SASLFailure, _ text: String = ""
    ) {
        let heard = client.stream.refuse(failure, text)
        counters.saslFailures.count(failure)
        say(slot)
        if case .denied(_, let error?) = heard { endStream(slot, after: error) }
    }

    /// An authentication has failed within the stream.
    mutating func denied(_ slot: Int, _ failure: SASLFailure, _ error: StreamError?) {
        counters.saslFailures.count(failure)
        if failure == .notAuthorized {
            inbound.append(.loginFailed(origin(of: slot).network))
        }
        if let error { endStream(slot, after: error) }
    }

    /// Whether a client may change the password of its account.
    func canChangePassword(_ slot: Int) -> Bool {
        // A token ends, and must not be exchanged for a password, which does not.
        configuration.passwords != .none && xmpp?[slot]?.term == nil
    }

    /// Changes the password of a client's account.
    mutating func changePassword(
        _ typed: [UInt8], _ head: StanzaHead, of sender: StanzaSender, in slot: Int
    ) {
        guard canChangePassword(slot) else {
            counters.stanzaErrors.count(.notAllowed)
            return send(to: slot) { $0.append(.passwordsNotChanged, head, to: sender) }
        }
        do throws(PasswordError) {
            let password = try Password(typed)
            changePassword(
                of: sender.account, .set(password), in: slot, for: .password(head, password.remark))
        } catch {
            let error = StanzaError.notAcceptable(error.sentence)
            counters.stanzaErrors.count(error.condition)
            send(to: slot) { $0.append(error, head, to: sender) }
        }
    }

    /// Has the engine host change what is stored of an account; the client waits for that.
    private mutating func changePassword(
        of account: [UInt8], _ goal: PasswordTask.Goal, in slot: Int,
        for request: XMPPRequestInProgress
    ) {
        wait(slot, for: request)
        inbound.append(
            .changePassword(
                PasswordTask(
                    connection: connectionID(slot), account: account, origin: origin(of: slot),
                    goal: goal)))
    }
}

extension Authentication {
    /// The account, and how it is proved.
    fileprivate var parts: (account: [UInt8], proof: XMPPAuthentication.Proof) {
        switch self {
        case .password(let account, let secret): (account, .secret(secret))
        case .keys(let account): (account, .challenge)
        }
    }
}
