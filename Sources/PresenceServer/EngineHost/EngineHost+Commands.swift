import Logging
import PresenceCore
import PresenceWire

// Requests become commands: credentials are checked, and names become numbers.

extension EngineHost {
    mutating func command(
        for request: ClientRequest, from origin: ConnectionOrigin?, _ source: RequestSource
    ) throws(Refusal) -> Command {
        switch request.method {
        case .login(let request): return try login(request, from: origin, source)
        case .refresh: throw Refusal(CredentialError.tokensNotTaken)
        case .logout: return .logout
        case .ping: return .ping
        case .subscribe(let request):
            return .subscribe(
                Subscribe(
                    account: try internIfNamed(request.account, source), type: request.type,
                    expirySeconds: request.expirySeconds,
                    publishers: try intern(request.publishers, source), answer: request.answer))
        case .unsubscribe(let request):
            return .unsubscribe(
                Unsubscribe(
                    account: try internIfNamed(request.account, source), type: request.type,
                    publishers: try request.publishers.map { list throws(Refusal) in
                        try intern(list, source)
                    }))
        case .subscriptions(let request):
            return .subscriptions(
                ListSubscriptions(
                    account: try internIfNamed(request.account, source), type: request.type,
                    publishers: request.publishers.map { known($0, source) },
                    cursor: request.cursor,
                    entriesMax: request.entriesMax))
        case .publish(let request):
            return .publish(
                Publish(
                    account: try internIfNamed(request.account, source), type: request.type,
                    value: request.value, expirySeconds: request.expirySeconds,
                    ext: request.ext.map { source.bytes($0) }, audience: request.audience,
                    ownSessions: request.ownSessions))
        case .clear(let request):
            return .clear(account: try internIfNamed(request.account, source), type: request.type)
        case .query(let request):
            return .query(type: request.type, accounts: queried(request.accounts, source))
        case .subscribers(let request):
            return .subscribers(
                ListSubscribers(
                    publisher: find(request.publisher, source), type: request.type,
                    cursor: request.cursor, entriesMax: request.entriesMax))
        case .sessions(let request):
            return .sessions(account: find(request.account, source))
        case .kick(let request):
            return .kick(
                Kick(
                    account: find(request.account, source),
                    device: request.device.map { source.bytes($0) },
                    reason: request.reason.map { source.bytes($0) }))
        case .stats, .metrics, .why, .top, .feed:
            preconditionFailure("not a request for the engine")
        }
    }

    private mutating func login(
        _ request: LoginRequest, from origin: ConnectionOrigin?, _ source: RequestSource
    ) throws(Refusal) -> Command {
        switch request.credential {
        case .appServer:
            guard configuration.access == .open else {
                throw Refusal(CredentialError.keyNeeded, field: .key)
            }
            return .loginAppServer
        case .key(let range):
            let candidate = source.bytes(range)
            guard configuration.authenticator?.name(ofServerKey: candidate) != nil else {
                throw Refusal(.invalidToken, field: .key)
            }
            return .loginAppServer
        case .token:
            throw Refusal(CredentialError.tokensNotTaken)
        case .account(let range):
            guard configuration.access == .open else {
                throw Refusal(CredentialError.tokenNeeded)
            }
            guard let device = request.device else {
                throw Refusal(.missingField, field: .device)
            }
            let account: AccountHandle = try intern(range, source)
            return .login(
                Login(
                    account: account, device: source.bytes(device), client: request.client,
                    reach: request.reach, sync: request.sync, address: origin?.address ?? []))
        }
    }

    /// Logs the login of an app server that is admitted.
    func logLogin(by method: Method, _ source: RequestSource) {
        guard case .login(let request) = method, case .key(let range) = request.credential,
            let name = configuration.authenticator?.name(ofServerKey: source.bytes(range))
        else { return }
        logger.info("app server logged in", metadata: ["key": "\(name)"])
    }

    // MARK: Names

    private mutating func internIfNamed(
        _ name: ByteRange?, _ source: RequestSource
    ) throws(Refusal) -> AccountHandle? {
        guard let name else { return nil }
        return try intern(name, source)
    }

    private mutating func intern(
        _ name: ByteRange, _ source: RequestSource
    ) throws(Refusal) -> AccountHandle {
        guard let handle = source.withBytes(name, { engine.intern($0) }) else { throw tooMany }
        return handle
    }

    mutating func intern(named name: Span<UInt8>) throws(Refusal) -> AccountHandle {
        guard let handle = engine.intern(name) else { throw tooMany }
        return handle
    }

    private var tooMany: Refusal {
        Refusal(
            .overloaded, field: .account, limit: configuration.engine.limits.accountsMax,
            retryAfterSeconds: 60)
    }

    private mutating func intern(
        _ names: NameList, _ source: RequestSource
    ) throws(Refusal) -> [AccountHandle] {
        var handles: [AccountHandle] = []
        handles.reserveCapacity(Int(names.count))
        for name in source.names(names) { handles.append(try intern(name, source)) }
        return handles
    }

    mutating func find(_ name: ByteRange, _ source: RequestSource) -> AccountHandle? {
        source.withBytes(name) { engine.find($0) }
    }

    /// Those of the names that the engine knows: an unknown account has no subscriptions.
    private mutating func known(
        _ names: NameList, _ source: RequestSource
    ) -> [AccountHandle] {
        source.names(names).compactMap { find($0, source) }
    }

    private mutating func queried(
        _ names: NameList, _ source: RequestSource
    ) -> [QueriedAccount] {
        source.names(names).map { name in
            find(name, source).map { .known($0) } ?? .unknown(name: source.bytes(name))
        }
    }
}
