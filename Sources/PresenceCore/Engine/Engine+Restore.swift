// What an earlier run has stored comes back here, before the first command.
//
// Sessions wait for their devices to return; subscriptions and statuses go on with what is
// left of them by the wall clock, the only one that survives a restart. It may have been set
// back meanwhile: what is left is never more than anybody can have asked for.

import Containers

extension Engine {
    /// Goes on behind the numbers that an earlier run may have used. To be called first.
    public mutating func restoreSequence(reservedUpTo end: UInt64) {
        precondition(names.count == 0, "numbers have been given out already")
        sequence = Numbering(after: end)
    }

    /// The account with this name, whatever the limit on accounts is now.
    public mutating func restoreName(_ name: Span<UInt8>) -> AccountHandle {
        names.find(name).map { AccountHandle(index: $0) } ?? addAccount(name)
    }

    /// Brings back the subscriptions of one subscriber; those that have run out are left out.
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
    private func deadline(at end: Wall, secondsMax: Int, _ now: Moment) -> Mono {
        min(now.mono(at: end), now.mono.advanced(bySeconds: secondsMax))
    }

    /// Brings back a status that has not run out; for readers of the feed, one that has, too: they
    /// are told of its end, as of any.
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

    /// Brings back what is remembered of an account.
    public mutating func restoreAccount(_ account: AccountHandle, value: Int32, lastSeen: Wall) {
        guard let value = UInt8(exactly: value), value <= 3 else { return }
        accounts[Int(account.index)].lastValue = value
        accounts[Int(account.index)].lastSeen = lastSeen
    }

    /// Brings back a session, in order of login: its device may now return.
    ///
    /// One that only push reached stays as it was until `pushUntil`.
    public mutating func restoreSession(
        of account: AccountHandle, on device: [UInt8], _ client: ClientKind, reach: Reach,
        pushUntil: Wall?, session id: SessionID, loggedIn: Wall, address: [UInt8], at now: Moment
    ) {
        guard session(of: account, on: device) == nil,
            Int(accounts[Int(account.index)].sessionCount) < Int(UInt8.max)
        else { return }
        let session = sessions.insert(
            Session(
                id: id, loggedIn: loggedIn, lastHeard: now.wall, account: account.index,
                device: strings.insert(device.span), address: strings.insert(address.span),
                client: client, reach: reach,
                phase: pushUntil == nil ? .awaitingReturn : .pushOnly))
        tallies.enter(sessions[session].phase)
        link(session, to: account)
        _ = makeTopic(.presence, of: account)
        let end =
            pushUntil.map { deadline(at: $0, secondsMax: settings.pushReachableSeconds, now) }
            ?? now.mono.advanced(bySeconds: settings.restartGraceSeconds)
        sessions[session].timer = wheel.schedule(
            Deadline.session(session).payload, at: end.milliseconds)
    }

    /// Gives every device that may return the whole of the grace, from now on: loading a large
    /// database has taken time in which nobody could. Of `secondsMin`, where that is more.
    public mutating func beginReturns(at now: Moment, secondsMin: Int = 0) {
        beginForgetting(at: now)
        let end = now.mono.advanced(bySeconds: max(settings.restartGraceSeconds, secondsMin))
        for number in firstSession.indices {
            var session = firstSession[number]
            while session != none {
                if sessions[session].phase == .awaitingReturn {
                    wheel.reschedule(sessions[session].timer, at: end.milliseconds)
                }
                session = links[Int(session)].next
            }
        }
    }

    /// Ends the restoring: has the first block of numbers reserved, under a ticket.
    ///
    /// Serve nobody before the store has committed it: from then on `seq` cannot fall.
    public mutating func begin(into effects: inout Effects) -> Ticket {
        retireInterned()
        let ticket = Ticket.start
        guard let end = sequence.blockToReserve() else {
            preconditionFailure("the numbers of a start come from a new block")
        }
        effects.persist(.reserveSequence(upTo: end), ticket: ticket)
        return ticket
    }
}
