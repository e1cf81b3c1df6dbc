// Presence for one address (RFC 6121, section 4.6): a session presents itself to an account, or to
// a device, that need not subscribe.
//
// It goes to the XMPP clients that are online at that moment. What is kept is the address, so that
// the clients that are online when it ends are sent `unavailable`. It is kept whether or not there
// are any: a limit that counted only accounts that exist would show which do. While a session is in
// grace nothing is sent, as to subscribers. If its device reconnects and does not show itself in
// time, what was presented before ends, and what was presented since does not. Neither the
// receivers nor the addresses survive a restart: all streams have ended, so there is nothing to
// withdraw.

import Containers

extension Engine {
    /// Presents the device of a session to an address.
    mutating func direct(
        _ request: Direct, _ texts: TextSource, from client: ClientSession, at now: Moment,
        into effects: inout Effects
    ) throws(Rejection) {
        let (session, account) = (client.session, client.account)
        guard sessions[session].client == .xmpp else { throw Rejection(.forbidden) }
        let address = DirectedAddresses.Address(
            account: texts.bytes(request.account), device: request.device.map { texts.bytes($0) })
        let kind: DirectedPresence.Kind
        switch request.presentation {
        case .available:
            kind = .available
            guard directed.hasRoom(for: address, of: session) else {
                let limit = Limits.directedAddressesMax
                throw Rejection(.directedQuota, limit: limit, count: limit)
            }
            try checkPublishPace(of: account, at: now)
            directed.insert(address, of: session)
        case .unavailable:
            kind = .unavailable
            // Never rejected if there is something to withdraw: presenting it was rate-limited.
            if !directed.remove(address, of: session) {
                try checkPublishPace(of: account, at: now)
            }
        }
        effects.answer(client.connection, .done)
        var presence = DirectedPresence(
            account: account, sender: effects.copyName(of: account.index, from: self),
            device: deviceEntry(
                of: session, presenting: request.presentation.availability, into: &effects),
            kind: kind)
        presence.addressed = address.device.map { effects.copy($0) }
        presence.isFromContact = find(address.account.span).map { areRelated($0, account) } ?? false
        let receivers = receivers(at: address)
        let subscribers = receivers.filter { isShown(session, to: $0) }
        if !subscribers.isEmpty { directed.noteShownOtherwise(session) }
        guard presence.kind == .unavailable else {
            return send(presence, to: receivers, into: &effects)
        }
        send(presence, to: receivers.filter { !subscribers.contains($0) }, into: &effects)
        presence.kind = .unavailableToSubscribers
        send(presence, to: subscribers, into: &effects)
    }

    /// Sends `unavailable` to the clients to which a session has presented itself, except those
    /// that are sent the event as subscribers. To be called before that event. Returns whether
    /// there are such subscribers.
    @discardableResult
    mutating func withdrawDirected(
        from session: UInt32, _ farewell: Availability = Availability(),
        _ scope: DirectedAddresses.Scope = .all, into effects: inout Effects
    ) -> Bool {
        var gone: [UInt32] = []
        var isToSubscribers = false
        let withdrawn = directed.remove(scope, of: session)
        guard !withdrawn.isEmpty else { return false }
        let kept = directed[session].flatMap { receivers(at: $0) }
        for receiver in withdrawn.flatMap({ receivers(at: $0) }) {
            if isSentEnd(of: session, receiver) {
                isToSubscribers = true
            } else if !gone.contains(receiver), !kept.contains(receiver) {
                gone.append(receiver)
            }
        }
        guard !gone.isEmpty else { return isToSubscribers }
        let presence = DirectedPresence(
            account: AccountHandle(index: sessions[session].account),
            sender: effects.copyName(of: sessions[session].account, from: self),
            device: deviceEntry(of: session, presenting: farewell, into: &effects),
            kind: .unavailable)
        send(presence, to: gone, into: &effects)
        return isToSubscribers
    }

    /// Whether a session has presented itself to an account or to a device of it.
    func hasDirected(_ session: UInt32, to account: AccountHandle) -> Bool {
        directed[session].contains { find($0.account.span) == account }
    }

    // MARK: Receivers

    /// The sessions of XMPP clients at an address: of an account those that are available, and the
    /// device that is named, available or not.
    private func receivers(at address: DirectedAddresses.Address) -> [UInt32] {
        guard let account = find(address.account.span) else { return [] }
        guard let device = address.device else {
            return allSessions(of: account).filter {
                canReceive($0) && sessions[$0].phase == .connected
            }
        }
        guard let session = session(of: account, on: device), canReceive(session) else { return [] }
        return [session]
    }

    /// Its connection is asked for: a session that is ending has lost it, whatever its phase.
    private func canReceive(_ session: UInt32) -> Bool {
        sessions[session].client == .xmpp && links[Int(session)].connection != none
    }

    /// Whether a session is sent the event with which others learn of the end of another. One that
    /// does not keep up is not: what it is sent later may not name the device.
    private func isSentEnd(of session: UInt32, _ receiver: UInt32) -> Bool {
        conflations[receiver] == nil && isShown(session, to: receiver)
    }

    /// Whether a session has been sent, or is to be sent, that another is online: to subscribers,
    /// and to the sessions of its account.
    private func isShown(_ session: UInt32, to receiver: UInt32) -> Bool {
        guard sessions[session].phase != .hidden, sessions[receiver].phase == .connected else {
            return false
        }
        let account = AccountHandle(index: sessions[session].account)
        guard sessions[receiver].account != account.index else { return true }
        guard let topic = topic(.presence, of: account) else { return false }
        return sees(topic, receiver) && listCursor(of: receiver).covers(topic)
    }

    private func send(
        _ presence: DirectedPresence, to receivers: [UInt32], into effects: inout Effects
    ) {
        guard !receivers.isEmpty else { return }
        let start = effects.receivers.count
        for receiver in receivers { effects.receivers.append(links[Int(receiver)].connection) }
        effects.directed.append(presence)
        effects.items.append(
            .direct(effects.directed.count - 1, receivers: start..<effects.receivers.count))
    }
}
