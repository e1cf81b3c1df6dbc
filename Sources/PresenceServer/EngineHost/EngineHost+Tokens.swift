// Tokens: a signature costs as much as some deliveries, and its key may have to be fetched. So a
// token is verified on another thread. Its connection waits like one that waits for the store. If
// it ends meanwhile, the result is discarded.

import Containers
import PresenceCore
import PresenceWire

extension EngineHost {
    /// Has a token verified; `report` continues its request.
    mutating func verify(
        _ token: [UInt8], for purpose: TokenRequest.Purpose, of connection: ConnectionID,
        from origin: ConnectionOrigin, at now: Moment
    ) throws(Refusal) {
        guard tokens.verifier != nil, let authenticator = configuration.authenticator else {
            throw Refusal(CredentialError.tokensNotTaken)
        }
        guard tokens.hasRoom(for: origin.network, configuration.admission, at: now.mono) else {
            throw Refusal(.overloaded, retryAfterSeconds: retryDelay.seconds())
        }
        let method: MethodName = if case .refresh = purpose { .refresh } else { .login }
        try checkRoom(for: method, at: now)
        let request = TokenRequest(
            connection: connection, address: origin.address, network: origin.network,
            token: token, shown: now.wall, purpose: purpose)
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
        let name = holder.account
        guard (1...configuration.engine.limits.accountBytesMax).contains(name.count) else {
            throw Refusal(CredentialError.subject)
        }
        let connection = verified.connection
        switch verified.purpose {
        case .login(let device, let client, let reach, let sync, let hears):
            // Charged only now, so that invalid tokens do not use up the login rate.
            guard admitLogin(of: connection, at: now) else { return }
            let login = Login(
                account: name, device: device, client: client, reach: reach, sync: sync,
                hears: hears, address: verified.address, term: holder.term)
            engine.logIn(login, from: connection, at: now, into: &output.shared.effects)
        case .authentication(let account):
            guard name == account else {
                tokens.noteFailure(of: verified.network, configuration.admission, at: now.mono)
                throw Refusal(CredentialError.subject)
            }
            output.append(.authenticated(connection, holder.term), for: connection)
        case .refresh:
            engine.refresh(
                name, until: holder.term, from: connection, into: &output.shared.effects)
        }
    }
}
