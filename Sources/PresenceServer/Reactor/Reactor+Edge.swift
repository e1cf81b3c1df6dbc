import EventLoop
import Logging
import PresenceCore
import PresenceWire

// Requests become commands: who it is is checked, and names become numbers.

extension Reactor {
    mutating func command(for method: Method, of slot: Int) throws(Refusal) -> Command {
        switch method {
        case .login(let request): return try login(request, of: slot)
        case .refresh: throw Refusal(CredentialFault.tokensNotTaken)
        case .logout: return .logout
        case .ping: return .ping
        case .subscribe(let request):
            return .subscribe(
                Subscribe(
                    account: try intern(request.account), type: request.type,
                    expirySeconds: request.expirySeconds,
                    publishers: try intern(request.publishers), answer: request.answer))
        case .unsubscribe(let request):
            return .unsubscribe(
                Unsubscribe(
                    account: try intern(request.account), type: request.type,
                    publishers: try request.publishers.map { list throws(Refusal) in
                        try intern(list)
                    }))
        case .subscriptions(let request):
            return .subscriptions(
                ListSubscriptions(
                    account: try intern(request.account), type: request.type,
                    publishers: request.publishers.map { known($0) }, cursor: request.cursor,
                    entriesMax: request.entriesMax))
        case .publish(let request):
            return .publish(
                Publish(
                    account: try intern(request.account), type: request.type,
                    value: request.value, expirySeconds: request.expirySeconds,
                    ext: request.ext.map { decoder.bytes($0) }, audience: request.audience,
                    ownSessions: request.ownSessions))
        case .clear(let request):
            return .clear(account: try intern(request.account), type: request.type)
        case .query(let request):
            return .query(type: request.type, accounts: queried(request.accounts))
        case .subscribers(let request):
            return .subscribers(
                ListSubscribers(
                    publisher: find(request.publisher), type: request.type,
                    cursor: request.cursor, entriesMax: request.entriesMax))
        case .sessions(let request):
            return .sessions(account: find(request.account))
        case .kick(let request):
            return .kick(
                Kick(
                    account: find(request.account),
                    device: request.device.map { decoder.bytes($0) },
                    reason: request.reason.map { decoder.bytes($0) }))
        case .stats:
            return .stats
        case .metrics, .why, .top, .feed:
            preconditionFailure("not a request for the engine")
        }
    }

    private mutating func login(_ request: LoginRequest, of slot: Int) throws(Refusal) -> Command {
        switch request.credential {
        case .appServer:
            guard configuration.access == .open else {
                throw Refusal(CredentialFault.keyNeeded, field: .key)
            }
            return .loginAppServer
        case .key(let range):
            let candidate = decoder.bytes(range)
            guard configuration.authenticator?.name(ofServerKey: candidate) != nil else {
                throw Refusal(.invalidToken, field: .key)
            }
            return .loginAppServer
        case .token:
            throw Refusal(CredentialFault.tokensNotTaken)
        case .account(let range):
            guard configuration.access == .open else {
                throw Refusal(CredentialFault.tokenNeeded)
            }
            guard let device = request.device else {
                throw Refusal(.missingField, field: .device)
            }
            let account: AccountHandle = try intern(range)
            return .login(
                Login(
                    account: account, device: decoder.bytes(device), client: request.client,
                    reach: request.reach, sync: request.sync, address: address(of: slot)))
        }
    }

    /// Logs the login of an app server that is admitted.
    func logLogin(by method: Method) {
        guard case .login(let request) = method, case .key(let range) = request.credential,
            let name = configuration.authenticator?.name(ofServerKey: decoder.bytes(range))
        else { return }
        logger.info("app server logged in", metadata: ["key": "\(name)"])
    }

    /// Where a connection comes from, for the eyes of app servers.
    func address(of slot: Int) -> [UInt8] {
        Array((loop.peerAddress(of: connections[slot].id) ?? "").utf8)
    }

    // MARK: Names

    private mutating func intern(_ name: ByteRange?) throws(Refusal) -> AccountHandle? {
        guard let name else { return nil }
        return try intern(name)
    }

    private mutating func intern(_ name: ByteRange) throws(Refusal) -> AccountHandle {
        guard let handle = decoder.withBytes(name, { engine.intern($0) }) else { throw tooMany }
        return handle
    }

    mutating func intern(_ name: Span<UInt8>) throws(Refusal) -> AccountHandle {
        guard let handle = engine.intern(name) else { throw tooMany }
        return handle
    }

    private var tooMany: Refusal {
        Refusal(
            .overloaded, field: .account, limit: configuration.engine.limits.accountsMax,
            retryAfterSeconds: 60)
    }

    private mutating func intern(_ names: NameList) throws(Refusal) -> [AccountHandle] {
        var handles: [AccountHandle] = []
        handles.reserveCapacity(Int(names.count))
        for name in decoder.names(names) { handles.append(try intern(name)) }
        return handles
    }

    mutating func find(_ name: ByteRange) -> AccountHandle? {
        decoder.withBytes(name) { engine.find($0) }
    }

    /// Those of the names that the engine knows: nobody can watch or be watched under others.
    private mutating func known(_ names: NameList) -> [AccountHandle] {
        decoder.names(names).compactMap { find($0) }
    }

    private mutating func queried(_ names: NameList) -> [QueriedAccount] {
        decoder.names(names).map { name in
            find(name).map { .known($0) } ?? .unknown(name: decoder.bytes(name))
        }
    }
}
