import Logging
import PresenceCore
import PresenceWire

// Logins with credentials that are checked here. Those with a token continue in `+Tokens`,
// those with a password in `+Passwords`.

/// What a login says of its device: all but the account, which may have to be proved first.
struct DeviceLogin: Sendable {
    private var name: [UInt8]
    private var client: ClientKind
    private var reach: Reach
    private var sync: LoginList
    private var hears: Leases
    private var messages: Login.MessageDelivery
    /// Where its connection comes from, for app servers to read.
    private var address: [UInt8]

    /// Of a request that must name its device.
    init(
        _ request: LoginRequest, _ texts: TextSource, from origin: ConnectionOrigin
    ) throws(Rejection) {
        guard let device = request.device else { throw Rejection(.missingField, field: .device) }
        name = texts.bytes(device)
        client = request.client
        reach = request.reach
        sync = request.sync
        hears = request.hears
        messages = request.messages
        address = origin.address
    }

    /// The login of an account, with the term of its token if it has shown one.
    func login(of account: [UInt8], until term: TokenTerm? = nil) -> Login {
        Login(
            account: account, device: name, client: client, reach: reach, sync: sync,
            hears: hears, address: address, term: term, messages: messages)
    }
}

extension EngineHost {
    /// Begins a session of the account or app server that the credentials are for.
    mutating func logIn(
        _ request: LoginRequest, _ texts: TextSource, by connection: ConnectionID,
        from origin: ConnectionOrigin, at now: Moment
    ) throws(Rejection) {
        switch request.credential {
        case .token(let token):
            let device = try DeviceLogin(request, texts, from: origin)
            try verify(
                texts.bytes(token), for: .login(device), of: connection, from: origin, at: now)
        case .password(let account, let password):
            let device = try DeviceLogin(request, texts, from: origin)
            try begin(
                PasswordTask(
                    connection: connection, account: texts.bytes(account), origin: origin,
                    goal: .logIn(typed: texts.bytes(password), .login(device))),
                as: .login, at: now)
        case .account(let account):
            guard configuration.access == .open else {
                let needed: CredentialError =
                    configuration.passwords == .only ? .passwordNeeded : .tokenNeeded
                throw Rejection(needed)
            }
            let device = try DeviceLogin(request, texts, from: origin)
            try checkRoom(for: .login, at: now)
            logIn(device.login(of: texts.bytes(account)), of: connection, at: now)
        case .key(let key):
            guard let key = configuration.authenticator?.appServer(withKey: texts.bytes(key))
            else { throw Rejection(.invalidToken, field: .key) }
            guard try logInAppServer(connection, key.rights, at: now) else { return }
            logger.info("app server logged in", metadata: ["key": "\(key.name)"])
        case .appServer:
            guard configuration.access == .open else {
                throw Rejection(CredentialError.keyNeeded, field: .key)
            }
            _ = try logInAppServer(connection, .all, at: now)
        }
    }

    /// Begins a session of an app server. Returns whether it was admitted.
    private mutating func logInAppServer(
        _ connection: ConnectionID, _ rights: AppServerRights, at now: Moment
    ) throws(Rejection) -> Bool {
        try checkRoom(for: .login, at: now)
        try checkMemory(at: now)
        guard admitLogin(of: connection, at: now) else { return false }
        engine.logInAppServer(rights, from: connection, at: now, into: &output.shared.effects)
        return true
    }
}
