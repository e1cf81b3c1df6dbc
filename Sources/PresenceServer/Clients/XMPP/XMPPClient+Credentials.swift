import Connections
import Passwords
import PresenceCore
import PresenceXMPP

// How XMPP clients prove to be an account, and register one.

extension XMPPClient {
    /// Has the engine host decide whether the client is the account that it names.
    func authenticate(_ authentication: Authentication, _ clients: inout Clients) {
        let (account, proof) = authentication.parts
        guard account.count <= clients.configuration.engine.limits.accountBytesMax else {
            return rejectAuthentication(.notAuthorized, "", &clients)
        }
        wait(for: .authentication)
        clients.inbound.append(
            .authenticate(
                XMPPAuthentication(
                    connection: clients.connectionID(slot), account: account, proof: proof,
                    origin: clients.origin(of: slot))))
    }

    /// Has the engine host register an account.
    func register(_ account: [UInt8], _ password: Password, _ clients: inout Clients) {
        changePassword(of: account, .register(password), for: .registration, &clients)
    }

    /// Continues what waits for the answer: the negotiation, or a change of the password.
    func take(_ answer: CredentialAnswer, _ clients: inout Clients) {
        guard clients.table.phase(of: slot) != .closing else { return }
        guard let request = awaiting else { return clients.endMismatched(slot) }
        switch (request, answer) {
        case (.authentication, .claimed): authenticated(.claimed, &clients)
        case (.authentication, .token(let term)):
            self.term = term
            authenticated(.token, &clients)
        case (.authentication, .password): authenticated(.password, &clients)
        case (.authentication, .proof(let hash)): authenticated(XMPPLogin(hash), &clients)
        case (.authentication, .keys(let keys)):
            var random = SystemRandomNumberGenerator()
            stream.challenge(with: keys, using: &random)
        case (.registration, .registered):
            stream.registered()
        case (.registration, .nameTaken):
            stream.reject(registration: .nameTaken)
        case (.registration, .registrationsFull):
            stream.reject(
                registration: StanzaError(.wait, .resourceConstraint, "No account is free."))
        default: return clients.endMismatched(slot)
        }
        flushStream(&clients)
        clients.settle(slot)
    }

    private func authenticated(_ login: XMPPLogin, _ clients: inout Clients) {
        clients.counters.xmppLogins.count(login)
        stream.authenticated()
    }

    /// Rejects an authentication. After the last chance, the stream has ended.
    func rejectAuthentication(
        _ failure: SASLFailure, _ text: String, _ clients: inout Clients
    ) {
        let input = stream.reject(failure, text)
        clients.counters.saslFailures.count(failure)
        flushStream(&clients)
        if case .denied(_, let error?) = input { endStream(after: error, &clients) }
    }

    /// An authentication has failed within the stream.
    func denied(_ failure: SASLFailure, _ error: StreamError?, _ clients: inout Clients) {
        clients.counters.saslFailures.count(failure)
        if let error { endStream(after: error, &clients) }
    }

    /// Whether the client may change the password of its account.
    func canChangePassword(_ clients: borrowing Clients) -> Bool {
        // A token ends, and must not be exchanged for a password, which does not.
        clients.configuration.passwords != .none && term == nil
    }

    /// Changes the password of the client's account.
    func changePassword(
        _ typed: [UInt8], _ head: StanzaHead, of sender: StanzaSender, _ clients: inout Clients
    ) {
        guard canChangePassword(clients) else {
            return send(.passwordsNotChanged, head, &clients)
        }
        do throws(PasswordError) {
            let password = try Password(typed)
            changePassword(
                of: sender.account, .set(password), for: .password(head, password.remark),
                &clients)
        } catch {
            send(.notAcceptable(error.sentence), head, &clients)
        }
    }

    /// Has the engine host change what is stored of an account; the client waits for that.
    private func changePassword(
        of account: [UInt8], _ goal: PasswordTask.Goal, for request: XMPPRequestInProgress,
        _ clients: inout Clients
    ) {
        wait(for: request)
        clients.inbound.append(
            .changePassword(
                PasswordTask(
                    connection: clients.connectionID(slot), account: account,
                    origin: clients.origin(of: slot), goal: goal)))
    }
}

extension Authentication {
    /// The account, and how it is proved.
    fileprivate var parts: (account: [UInt8], proof: XMPPAuthentication.Proof) {
        switch self {
        case .password(let account, let secret): (account, .secret(secret))
        case .keys(let account): (account, .challenge)
        case .proof(let account, let hash, let isRight): (account, .scram(hash, isRight: isRight))
        }
    }
}
