// Tokens: a signature costs as much as some deliveries, and its key may have to be fetched. So a
// token is verified on another thread. Its connection waits like one that waits for the store. If
// it ends meanwhile, the result is discarded.

import Containers
import PresenceCore
import PresenceWire

extension EngineHost {
    /// The token that a request shows, and what for; nil: it shows none.
    func token(
        in request: ClientRequest, from origin: ConnectionOrigin?, _ source: RequestSource,
        at now: Moment
    ) throws(Refusal) -> TokenRequest? {
        let token: ByteRange
        let purpose: TokenRequest.Purpose
        switch request.method {
        case .login(let login):
            guard case .token(let range) = login.credential else { return nil }
            guard let device = login.device else { throw Refusal(.missingField, field: .device) }
            token = range
            purpose = .login(
                device: source.bytes(device), client: login.client, reach: login.reach,
                sync: login.sync)
        case .refresh(let refresh):
            token = refresh.token
            purpose = .refresh
        default:
            return nil
        }
        return TokenRequest(
            connection: request.connection, address: origin?.address ?? [],
            network: origin?.network, token: source.bytes(token), shown: now.wall,
            purpose: purpose)
    }

    /// Has a token verified; `report` continues its request.
    mutating func verify(_ request: TokenRequest, at now: Moment) throws(Refusal) {
        guard tokens.verifier != nil, let authenticator = configuration.authenticator else {
            throw Refusal(CredentialError.tokensNotTaken)
        }
        guard tokens.hasRoom(for: request.network, configuration.admission, at: now.mono) else {
            throw Refusal(.overloaded, retryAfterSeconds: retryDelay.seconds())
        }
        let kind: CommandKind = if case .refresh = request.purpose { .refresh } else { .login }
        try checkRoom(for: kind, at: now)
        tokens.submit(request, to: authenticator)
    }

    /// Continues requests whose tokens have been verified.
    mutating func report(_ results: [TokenResult], at now: Moment) {
        for result in results {
            guard tokens.note(result, configuration.admission, at: now.mono) else { continue }
            do throws(Refusal) {
                try proceed(with: result, at: now)
            } catch {
                output.append(.refuse(result.connection, error), for: result.connection)
            }
            sort(at: now)
        }
    }

    private mutating func proceed(with verified: TokenResult, at now: Moment) throws(Refusal) {
        guard phase == .serving else {
            throw Refusal(.shuttingDown, retryAfterSeconds: retryDelay.seconds())
        }
        let holder: TokenHolder
        switch verified.result {
        case .success(let found): holder = found
        case .failure(let fault):
            throw Refusal(
                fault, retryAfterSeconds: fault == .keysUnavailable ? retryDelay.seconds() : nil)
        }
        let name = holder.account.span
        guard (1...configuration.engine.limits.accountBytesMax).contains(name.count) else {
            throw Refusal(CredentialError.subject)
        }
        let command: Command
        switch verified.purpose {
        case .login(let device, let client, let reach, let sync):
            // Charged only now, so that invalid tokens do not use up the login rate.
            guard admitLogin(of: verified.connection, at: now) else { return }
            command = .login(
                Login(
                    account: try intern(named: name), device: device, client: client, reach: reach,
                    sync: sync, address: verified.address, term: holder.term))
        case .refresh:
            command = .refresh(account: engine.find(name), holder.term)
        }
        engine.handle(
            command, from: verified.connection, at: now, into: &output.shared.effects)
    }
}
