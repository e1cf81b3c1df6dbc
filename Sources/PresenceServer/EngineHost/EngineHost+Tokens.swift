// Tokens: a signature costs as much as some deliveries, and its key may have to be fetched. So a
// token is verified on another thread. Its connection waits like one that waits for the store. If
// it ends meanwhile, the result is discarded.

import Containers
import EventLoop
import PresenceCore
import PresenceWire

extension EngineHost {
    /// Has a token verified; `report` continues its request.
    mutating func verify(
        _ token: [UInt8], for purpose: TokenRequest.Purpose, of connection: ConnectionID,
        from origin: ConnectionOrigin, at now: Moment
    ) throws(Rejection) {
        guard tokens.verifier != nil, let authenticator = configuration.authenticator else {
            throw Rejection(CredentialError.tokensNotTaken)
        }
        let isSuspect = failedLoginWait(of: origin.network, at: now.mono) != nil
        guard tokens.hasRoom(isSuspect: isSuspect, configuration.admission) else {
            throw transientRejection(.overloaded)
        }
        let method: MethodName = if case .refresh = purpose { .refresh } else { .login }
        try checkRoom(for: method, at: now)
        let request = TokenRequest(
            connection: connection, network: origin.network, token: token, shown: now.wall,
            purpose: purpose)
        tokens.submit(request, to: authenticator)
    }

    /// Continues requests whose tokens have been verified.
    mutating func report(_ results: [TokenResult], at now: Moment) {
        for result in results {
            if case .failure(let error) = result.result {
                tokens.noteRejected()
                // The client is not at error if the keys cannot be fetched.
                if error != .keysUnavailable { noteFailedLogin(of: result.network, at: now.mono) }
            }
            guard tokens.note(result) else { continue }
            do throws(Rejection) {
                try proceed(with: result, at: now)
            } catch {
                output.append(.reject(error), for: result.connection)
            }
            sort(at: now)
        }
    }

    private mutating func proceed(with verified: TokenResult, at now: Moment) throws(Rejection) {
        try checkServing()
        let holder: TokenHolder
        switch verified.result {
        case .success(let found): holder = found
        case .failure(let error):
            throw Rejection(
                error, retryAfterSeconds: error == .keysUnavailable ? retryDelay.seconds() : nil)
        }
        let name = holder.account
        guard (1...configuration.engine.limits.accountBytesMax).contains(name.count) else {
            throw Rejection(CredentialError.subject)
        }
        let connection = verified.connection
        switch verified.purpose {
        case .login(let device):
            logIn(device.login(of: name, until: holder.term), of: connection, at: now)
        case .authentication(let account):
            guard name == account else {
                tokens.noteRejected()
                noteFailedLogin(of: verified.network, at: now.mono)
                throw Rejection(CredentialError.subject)
            }
            authenticated(connection, as: account, .token(holder.term), at: now.mono)
        case .refresh:
            engine.refresh(
                name, until: holder.term, from: connection, into: &output.shared.effects)
        }
    }

    /// Begins the session of a device whose account has been proved.
    ///
    /// The login rate is charged only now, so that invalid credentials do not use it up.
    mutating func logIn(_ login: Login, of connection: ConnectionID, at now: Moment) {
        do throws(Rejection) {
            try checkMemory(for: login, at: now)
        } catch {
            return reject(connection, error)
        }
        guard admitLogin(of: connection, at: now) else { return }
        engine.logIn(login, from: connection, at: now, into: &output.shared.effects)
    }

    // MARK: Failed logins

    /// How many milliseconds it takes until fewer logins of a network have failed recently; nil:
    /// not too many have.
    func failedLoginWait(of network: ClientNetwork?, at now: Mono) -> UInt64? {
        failedLogins.wait(of: network, configuration.admission.failedLoginPace, at: now)
    }

    /// Notes that a login has failed.
    mutating func noteFailedLogin(of network: ClientNetwork?, at now: Mono) {
        _ = failedLogins.take(network, configuration.admission.failedLoginPace, at: now)
    }

    /// Notes that a password was wrong. It counts as ten tokens, and what is missing is owed:
    /// passwords can be guessed.
    mutating func noteFailedPassword(of network: ClientNetwork?, at now: Mono) {
        failedLogins.charge(
            Self.tokensOfPassword, to: network, configuration.admission.failedLoginPace, at: now)
    }

    /// How many passwords of a network may be wrong until it has to wait; at least one.
    func guessesLeft(of network: ClientNetwork?, at now: Mono) -> Int {
        guard let network, let pace = configuration.admission.failedLoginPace else { return .max }
        let tokens = failedLogins.tokensLeft(of: network, pace, at: now)
        return max(1, tokens / Self.tokensOfPassword)
    }

    private static var tokensOfPassword: Int { 10 }
}
