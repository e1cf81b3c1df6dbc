// What the engine records in its history, besides events.

import Containers

extension Engine {
    /// The entry for an account in the history.
    func historyAccount(_ account: UInt32) -> HistoryAccount {
        HistoryAccount(number: account, generation: accounts[Int(account)].generation & 0x3FF)
    }

    /// The same for a new entry.
    private mutating func recorded(_ account: UInt32) -> HistoryAccount {
        accounts[Int(account)].isInHistory = true
        return historyAccount(account)
    }

    // MARK: Events

    /// Records the newest event of a topic.
    mutating func note(
        _ topic: TopicHandle, value: Int32, _ cause: Cause, _ fanned: FannedOut, at time: Wall
    ) {
        let record = topics[topic.index]
        let account = recorded(record.account)
        history.events.append(
            EventNote(
                seq: record.seq, time: time, of: account, record.type, value: value, cause,
                receivers: fanned.receivers, fanned.walk))
    }

    // MARK: Subscriptions

    /// Records that subscriptions of a request have begun to deliver.
    mutating func noteBeginning(
        of subscriber: AccountHandle, _ type: EventType, created: Wall, at now: Wall
    ) {
        let account = recorded(subscriber.index)
        history.subscriptions.append(
            SubscriptionNote(
                .began, of: account, to: nil, type, created: created, seq: sequence.last,
                time: now))
    }

    /// Records that subscriptions have ended; their topics still exist.
    mutating func noteEnds(
        of subscriptions: [Subscription], of subscriber: AccountHandle,
        _ change: SubscriptionNote.Change,
        at now: Wall
    ) {
        guard history.subscriptions.countMax > 0 else { return }
        let account = recorded(subscriber.index)
        for subscription in subscriptions {
            let topic = topics[subscription.topic]
            history.subscriptions.append(
                SubscriptionNote(
                    change, of: account, to: historyAccount(topic.account), topic.type,
                    created: subscription.created, seq: sequence.last, time: now))
        }
    }

    // MARK: Connections

    /// Records the end of the connection of a session, which is about to be detached.
    mutating func noteEnd(
        of session: UInt32, _ end: ConnectionEnd, unsentBytes: Int, lastHeard: Wall, at now: Moment
    ) {
        guard history.connections.countMax > 0 else { return }
        let record = sessions[session]
        let device = strings.bytes(of: record.device)
        let account = recorded(record.account)
        history.note(
            ConnectionNote(
                session: record.id, endSeq: sequence.last, listedSeq: record.listedSeq,
                loggedIn: record.loggedIn, lastHeard: lastHeard,
                ended: now.wall, device: history.devices.insert(device.span),
                account: account, unsentBytes: UInt32(clamping: unsentBytes),
                client: record.client, list: record.list, end: end))
    }

    // MARK: Messages

    /// Records that a message waits for an account. `time` is when it was requested.
    mutating func note(_ message: WaitingMessage, for account: AccountHandle, at time: Wall) {
        guard history.messages.countMax > 0 else { return }
        for party in [message.sender, account.index] where party != none {
            accounts[Int(party)].isInHistory = true
        }
        history.note(
            MessageNote(
                message.key, from: message.sender == none ? nil : messageParty(message.sender),
                to: messageParty(account.index), time: time))
    }

    /// The entry for an account among messages.
    func messageParty(_ account: UInt32) -> MessageParty {
        MessageParty(
            number: account, generation: accounts[Int(account)].generation,
            fingerprint: names.fingerprint(of: account))
    }

    // MARK: Forgotten accounts

    /// Records that an account is forgotten, which leaves its entries to no account.
    mutating func noteForgotten(_ account: UInt32) {
        guard accounts[Int(account)].isInHistory else { return }
        history.forgotten.append(
            ForgottenNote(
                fingerprint: names.fingerprint(of: account), seq: sequence.last,
                time: sequence.time))
    }

    /// When an account with this name was forgotten last, or may have been.
    func forgotten(_ name: Span<UInt8>) -> ForgottenNote? {
        history.forgotten(names.fingerprint(of: name))
    }

    // MARK: Slow clients

    /// Records that a session is behind from the event of this `seq` on. Returns the place of the
    /// entry, for `noteCaughtUp`.
    mutating func noteBehind(_ session: UInt32, fromEvent seq: UInt64, at now: Wall) -> Int? {
        let note = DelayNote(session: sessions[session].id, fromSeq: seq, from: now)
        return history.delays.append(note).place
    }

    /// Records that a session has been sent the newest states of all that it has missed.
    mutating func noteCaughtUp(_ place: Int, at now: Wall) {
        guard history.delays.places.contains(place) else { return }
        history.delays[place].toSeq = sequence.last
        history.delays[place].to = now
    }

    /// The memory of the history, in bytes.
    public var historyBytes: Int { history.bytesReserved }
}
