import Logging
import PresenceCore
import PresenceWire

// Logins with credentials that are checked here. Those with a token continue in `+Tokens`,
// those with a password in `+Passwords`.

extension EngineHost {
    /// Begins a session of the account or app server that the credentials are for.
    mutating func logIn(
        _ request: LoginRequest, _ texts: TextSource, by connection: ConnectionID,
        from origin: ConnectionOrigin, at now: Moment
    ) throws(Refusal) {
        switch request.credential {
        case .token(let token):
            guard let device = request.device else {
                throw Refusal(.missingField, field: .device)
            }
            let purpose = TokenRequest.Purpose.login(
                device: texts.bytes(device), client: request.client, reach: request.reach,
                sync: request.sync, hears: request.hears)
            try verify(texts.bytes(token), for: purpose, of: connection, from: origin, at: now)
        case .password(let account, let password):
            guard let device = request.device else {
                throw Refusal(.missingField, field: .device)
            }
            let purpose = TokenRequest.Purpose.login(
                device: texts.bytes(device), client: request.client, reach: request.reach,
                sync: request.sync, hears: request.hears)
            try begin(
                PasswordTask(
                    connection: connection, account: texts.bytes(account), origin: origin,
                    goal: .logIn(typed: texts.bytes(password), purpose)),
                as: .login, at: now)
        case .account(let account):
            guard configuration.access == .open else {
                let needed: CredentialError =
                    configuration.passwords == .only ? .passwordNeeded : .tokenNeeded
                throw Refusal(needed)
            }
            guard let device = request.device else {
                throw Refusal(.missingField, field: .device)
            }
            try checkRoom(for: .login, at: now)
            guard admitLogin(of: connection, at: now) else { return }
            let login = Login(
                account: texts.bytes(account), device: texts.bytes(device),
                client: request.client, reach: request.reach, sync: request.sync,
                hears: request.hears, address: origin.address)
            engine.logIn(login, from: connection, at: now, into: &output.shared.effects)
        case .key(let key):
            guard let name = configuration.authenticator?.name(ofServerKey: texts.bytes(key))
            else { throw Refusal(.invalidToken, field: .key) }
            guard try logInAppServer(connection, at: now) else { return }
            logger.info("app server logged in", metadata: ["key": "\(name)"])
        case .appServer:
            guard configuration.access == .open else {
                throw Refusal(CredentialError.keyNeeded, field: .key)
            }
            _ = try logInAppServer(connection, at: now)
        }
    }

    /// Begins a session of an app server. Returns whether it was admitted.
    private mutating func logInAppServer(
        _ connection: ConnectionID, at now: Moment
    ) throws(Refusal) -> Bool {
        try checkRoom(for: .login, at: now)
        guard admitLogin(of: connection, at: now) else { return false }
        engine.logInAppServer(from: connection, at: now, into: &output.shared.effects)
        return true
    }
}
