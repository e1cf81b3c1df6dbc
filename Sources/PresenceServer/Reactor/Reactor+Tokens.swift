// Tokens: a signature costs what some deliveries do, and its key may have to be fetched. So a token
// is judged on another thread. Its connection waits meanwhile as one does that waits for the store:
// nothing more is read from it, and it may go away, in which case the verdict finds another
// generation in its slot and is dropped.
//
// What a session may do is not changed by a token's end, only that it ends: the connection is
// closed with 4402, and whoever returns in time with a new token has never been away.

import Containers
import EventLoop
import PresenceCore
import PresenceWire

extension Reactor {
    /// What of a request is a token to be judged, and what for; nil: it shows none.
    func inquiry(
        for method: Method, of slot: Int, at now: Moment
    ) throws(Refusal) -> Inquiry? {
        let token: ByteRange
        let purpose: Inquiry.Purpose
        switch method {
        case .login(let request):
            guard case .token(let range) = request.credential else { return nil }
            guard let device = request.device else {
                throw Refusal(.missingField, field: .device)
            }
            token = range
            purpose = .login(
                device: decoder.bytes(device), client: request.client, reach: request.reach,
                sync: request.sync)
        case .refresh(let request):
            token = request.token
            purpose = .refresh
        default:
            return nil
        }
        return Inquiry(
            connection: connections[slot].id, network: addresses.network(connections[slot].address),
            token: decoder.bytes(token), shown: now.wall,
            purpose: purpose)
    }

    /// Has a token judged; `report` goes on with its request.
    mutating func ask(_ inquiry: Inquiry, of slot: Int, at now: Moment) throws(Refusal) {
        let kind: CommandKind = if case .refresh = inquiry.purpose { .refresh } else { .login }
        if kind == .refresh, connections[slot].tokenDeadline == .none {
            throw Refusal(CredentialFault.nothingToRefresh)
        }
        guard let judges, let authenticator = configuration.authenticator else {
            throw Refusal(CredentialFault.tokensNotTaken)
        }
        try checkInquiries(of: slot, at: now)
        try checkRoom(for: kind, at: now)
        inquiriesUnderWay += 1
        counters.inquiries += 1
        connections[slot].state.insert(.isBeingJudged)
        judges.submit(inquiry, to: authenticator)
    }

    /// Goes on with requests whose tokens have been judged.
    mutating func report(_ verdicts: [Verdict]) {
        guard !verdicts.isEmpty else { return }
        let now = now()
        for verdict in verdicts {
            inquiriesUnderWay -= 1
            if case .failure(let fault) = verdict.result {
                counters.tokensRefused += 1
                // The client is not at fault if the keys cannot be fetched.
                if fault != .keysUnavailable {
                    failedLogins.note(
                        verdict.network, configuration.admission.failedLoginPace, at: now.mono)
                }
            }
            guard let slot = slot(of: verdict.connection), connections[slot].awaiting != nil else {
                continue
            }
            connections[slot].state.remove(.isBeingJudged)
            do throws(Refusal) {
                try goOn(with: verdict, of: slot, at: now)
            } catch {
                refuse(slot, error)
            }
            carryOut(at: now)
            // Its token may have ended while the one that did not hold was looked at.
            if case .refresh = verdict.purpose, connections[slot].tokenDeadline == .none {
                tokenEnded(of: slot)
            }
        }
    }

    private mutating func goOn(with verdict: Verdict, of slot: Int, at now: Moment) throws(Refusal)
    {
        guard phase == .serving else {
            throw Refusal(.shuttingDown, retryAfterSeconds: retryAfterSeconds())
        }
        let holder: TokenHolder
        switch verdict.result {
        case .success(let found): holder = found
        case .failure(let fault):
            throw Refusal(
                fault, retryAfterSeconds: fault == .keysUnavailable ? retryAfterSeconds() : nil)
        }
        let name = holder.account.span
        guard (1...configuration.engine.limits.accountBytesMax).contains(name.count) else {
            throw Refusal(CredentialFault.subject)
        }
        let command: Command
        switch verdict.purpose {
        case .login(let device, let client, let reach, let sync):
            // Charged only now, so that invalid tokens do not use up the login rate.
            try admitLogin(of: slot, at: now)
            command = .login(
                Login(
                    account: try intern(name), device: device, client: client, reach: reach,
                    sync: sync, address: address(of: slot), term: holder.term))
        case .refresh:
            command = .refresh(account: engine.find(name), holder.term)
        }
        engine.handle(command, from: ConnectionID(verdict.connection), at: now, into: &effects)
    }

    /// Has a session end when its token does.
    mutating func limit(_ slot: Int, to term: TokenTerm) {
        let deadline = now().mono(at: term.honouredUntil).milliseconds
        if connections[slot].tokenDeadline == .none {
            connections[slot].tokenDeadline = deadlines.schedule(
                ConnectionDeadline.token.payload(slot), at: deadline)
        } else {
            deadlines.reschedule(connections[slot].tokenDeadline, at: deadline)
        }
    }

    /// The token of a session has ended. A new one that came before is looked at first.
    mutating func tokenEnded(of slot: Int) {
        connections[slot].tokenDeadline = .none
        guard connections[slot].phase == .serving,
            !connections[slot].state.contains(.isBeingJudged)
        else { return }
        counters.tokensExpired += 1
        close(slot, .tokenExpired)
    }

    mutating func forgetToken(of slot: Int) {
        guard connections[slot].tokenDeadline != .none else { return }
        deadlines.cancel(connections[slot].tokenDeadline)
        connections[slot].tokenDeadline = .none
    }
}
