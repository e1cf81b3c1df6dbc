// What an earlier run has stored is restored here, before the first command.
//
// Sessions wait for their devices to reconnect. Subscriptions and statuses keep their remaining
// time by the wall clock, the only one that survives a restart. It may have been set back
// meanwhile: the remaining time is never more than a request can have asked for.

import Containers

extension Engine {
    /// Continues after the numbers that an earlier run may have used. To be called first.
    public mutating func restoreSequence(reservedUpTo end: UInt64) {
        precondition(names.count == 0, "numbers have been given out already")
        sequence.restore(reservedUpTo: end)
    }

    /// The account with this name, whatever the limit on accounts is now.
    public mutating func restoreName(_ name: Span<UInt8>) -> AccountHandle {
        names.find(name).map { AccountHandle(index: $0) } ?? addAccount(name)
    }

    /// Restores the subscriptions of one account; those that have expired are left out.
    public mutating func restoreSubscription(
        of subscriber: AccountHandle, to publisher: AccountHandle, _ type: EventType,
        created: Wall, expires: Wall, at now: Moment
    ) {
        guard now.wall < expires else { return }
        addSubscriptions(
            of: subscriber, to: [publisher], type, created: created,
            deadline: deadline(
                at: expires, secondsMax: settings.limits.subscriptionExpirySecondsMax, now))
    }

    /// When the monotonic clock will show the wall time `end`, at most `secondsMax` from now.
    func deadline(at end: Wall, secondsMax: Int, _ now: Moment) -> Mono {
        min(now.mono(at: end), now.mono.advanced(bySeconds: secondsMax))
    }

    /// Restores a status that has not expired; with the feed on, also one that has, since feed
    /// readers are sent its end as an event.
    public mutating func restoreStatus(
        of account: AccountHandle, _ type: EventType, value: Int32, ext: [UInt8]?,
        audience: Audience, expires: Wall, at now: Moment
    ) {
        guard now.wall < expires || feed == .on else { return }
        let topic = makeTopic(type, of: account)
        setStatus(
            of: topic, value: value, ext: ext, audience: audience,
            deadline: deadline(
                at: expires, secondsMax: settings.limits.statusExpirySecondsMax, now))
    }

    /// Restores what is remembered of an account.
    public mutating func restoreAccount(_ account: AccountHandle, value: Int32, lastSeen: Wall) {
        guard let value = UInt8(exactly: value), value <= 3 else { return }
        accounts[Int(account.index)].lastValue = value
        accounts[Int(account.index)].lastSeen = lastSeen
    }

    /// Restores a session, in order of login: its device may now reconnect.
    ///
    /// One that was push-only stays so until `pushUntil`.
    public mutating func restoreSession(
        of account: AccountHandle, on device: [UInt8], _ client: ClientKind, reach: Reach,
        pushUntil: Wall?, session id: SessionID, loggedIn: Wall, address: [UInt8],
        availability: Availability = Availability(), at now: Moment
    ) {
        guard session(of: account, on: device) == nil,
            Int(accounts[Int(account.index)].sessionCount) < Int(UInt8.max)
        else { return }
        let session = insertSession(
            Session(
                id: id, loggedIn: loggedIn, lastHeard: now.wall, account: account.index,
                device: strings.insert(device.span), address: strings.insert(address.span),
                client: client, reach: reach,
                phase: pushUntil == nil ? .awaitingReturn : .pushOnly))
        put(availability, of: session)
        link(session, to: account)
        _ = makeTopic(.presence, of: account)
        let end =
            pushUntil.map { deadline(at: $0, secondsMax: settings.pushReachableSeconds, now) }
            ?? now.mono.advanced(bySeconds: settings.restartGraceSeconds)
        setTimer(of: session, at: end)
    }

    /// Gives every device the whole of the restart grace from now on, or `secondsMin` if that is
    /// more: while a large database was being loaded, no device could reconnect.
    public mutating func beginReturns(at now: Moment, secondsMin: Int = 0) {
        beginForgetting(at: now)
        let end = now.mono.advanced(bySeconds: max(settings.restartGraceSeconds, secondsMin))
        for number in firstSession.indices {
            let sessions = shownSessions(of: AccountHandle(index: UInt32(number)))
            for session in sessions where self.sessions[session].phase == .awaitingReturn {
                wheel.reschedule(self.sessions[session].timer, at: end.milliseconds)
            }
        }
    }

    /// Ends the restore: has the first block of numbers reserved, under a ticket.
    ///
    /// Accept no client before the store has committed it: from then on `seq` cannot decrease.
    public mutating func begin(into effects: inout Effects) -> Ticket {
        retireInterned()
        undelivered.endRestore()
        let ticket = Ticket.start
        guard let end = sequence.blockToReserve(lastTicket: inFlight.lastNumber) else {
            preconditionFailure("the numbers of a start come from a new block")
        }
        effects.persist(.reserveSequence(upTo: end), ticket: ticket)
        return ticket
    }
}
