// Events and states: their content, and their receivers.
//
// Both have the publisher's whole state; an event also says what has happened.

import Containers

extension Engine {
    /// What an event is about, besides the publisher's state.
    struct EventDraft {
        var value: Int32
        var cause: Cause
        /// The device whose session caused it, in `Effects.bytes`.
        var origin: DeviceEntry?
        var ext: ByteRange?
    }

    /// Sends an event to every subscriber of `topic`. Returns the event's `seq`.
    ///
    /// Costs one encoding and a few dozen nanoseconds per receiver; without receivers, only the
    /// number.
    @discardableResult
    mutating func emit(
        _ draft: EventDraft, on topic: TopicHandle,
        alsoTo own: OwnReceivers = .resources(but: nil),
        at now: Moment, into effects: inout Effects
    ) -> UInt64 {
        let seq = sequence.next()
        topics[topic.index].seq = seq
        stats.events += 1
        tallies.count(draft.cause)
        let viewers = viewers(of: topic)
        let hasReceivers = hasReceivers(topic, viewers, own)
        var fanned = FannedOut(receivers: 0, walk: .atOnce)
        if hasReceivers || feed == .on {
            appendEvent(draft, on: topic, at: now, into: &effects)
            if hasReceivers { fanned = fanOut(topic, to: viewers, alsoTo: own, into: &effects) }
            if feed == .on { effects.feedLast(topic) }
        }
        note(topic, value: draft.value, draft.cause, fanned, at: now.wall)
        return seq
    }

    private func appendEvent(
        _ draft: EventDraft, on topic: TopicHandle, at now: Moment, into effects: inout Effects
    ) {
        let record = topics[topic.index]
        let account = AccountHandle(index: record.account)
        var event = Event(
            type: record.type, publisher: effects.copyName(of: record.account, from: self),
            value: draft.value, cause: draft.cause, seq: record.seq, time: now.wall)
        event.origin = draft.origin
        event.ext = draft.ext
        appendState(of: account, status: record.status, to: &event, at: now, into: &effects)
        effects.events.append(event)
    }

    /// Fills in the parts of an event that are the publisher's state.
    func appendState(
        of account: AccountHandle, status: UInt32, to event: inout Event, at now: Moment,
        into effects: inout Effects
    ) {
        if status != none {
            let record = statuses[status]
            event.status = StatusEntry(
                value: record.value, ext: record.ext.map { effects.copy($0) },
                expires: now.wall(at: record.deadline))
        }
        guard event.type == .presence else { return }
        let start = effects.devices.count
        var session = firstSession[Int(account.index)]
        while session != none {
            effects.devices.append(deviceEntry(of: session, into: &effects))
            session = links[Int(session)].next
        }
        event.online = start..<effects.devices.count
        let record = accounts[Int(account.index)]
        if firstSession[Int(account.index)] == none, record.lastValue != 0 {
            event.lastSeen = record.lastSeen
        }
    }

    /// The device of a session, with what it says in place of what it shows.
    func deviceEntry(
        of session: UInt32, presenting availability: Availability, into effects: inout Effects
    ) -> DeviceEntry {
        var entry = deviceEntry(of: session, into: &effects)
        entry.availability = nil
        if availability != Availability() {
            entry.availability = Int32(effects.availabilities.count)
            effects.availabilities.append(availability)
        }
        return entry
    }

    /// The device of a session as other accounts see it.
    func deviceEntry(of session: UInt32, into effects: inout Effects) -> DeviceEntry {
        let record = sessions[session]
        var entry = DeviceEntry(
            client: record.client, name: effects.copy(record.device, from: strings),
            reach: record.phase == .pushOnly ? .push : .connection)
        if record.availability != none {
            entry.availability = Int32(effects.availabilities.count)
            effects.availabilities.append(availabilities[record.availability])
        }
        return entry
    }
}

// MARK: - States

extension Engine {
    /// Appends the state of a topic as an event of cause `sync`.
    func appendState(
        _ topic: TopicHandle, at now: Moment, into effects: inout Effects
    ) {
        let record = topics[topic.index]
        let account = AccountHandle(index: record.account)
        var event = Event(
            type: record.type, publisher: effects.copyName(of: record.account, from: self),
            value: OwnValue.unknown, cause: .sync, seq: record.seq, time: now.wall)
        appendState(of: account, status: record.status, to: &event, at: now, into: &effects)
        event.value = stateValue(of: account, event)
        effects.events.append(event)
    }

    /// Appends the state of an account without a topic: at most remembered, without subscribers.
    mutating func appendState(
        of account: AccountHandle, _ type: EventType, at now: Moment, into effects: inout Effects
    ) {
        if let topic = topic(type, of: account) {
            return appendState(topic, at: now, into: &effects)
        }
        var event = Event(
            type: type, publisher: effects.copyName(of: account.index, from: self),
            value: OwnValue.unknown, cause: .sync, seq: sequence.next(), time: now.wall)
        appendState(of: account, status: none, to: &event, at: now, into: &effects)
        event.value = stateValue(of: account, event)
        effects.events.append(event)
    }

    /// Appends the state of a name that the engine does not know.
    mutating func appendState(
        ofUnknown name: [UInt8], _ type: EventType, at now: Moment, into effects: inout Effects
    ) {
        let publisher = effects.copy(name)
        effects.appendUnknown(type, publisher, .sync, seq: sequence.next(), at: now.wall)
    }

    /// The value of a state: the status's if the publisher is online (or the type is not presence),
    /// else what the connections imply.
    private func stateValue(of account: AccountHandle, _ event: Event) -> Int32 {
        guard let online = event.online else { return event.status?.value ?? OwnValue.unknown }
        if online.isEmpty { return Int32(accounts[Int(account.index)].lastValue) }
        return event.status?.value ?? OwnValue.login
    }

    /// The value that the connections imply, whatever the status.
    func ownValue(of topic: TopicHandle) -> Int32 {
        let record = topics[topic.index]
        guard record.type == .presence else { return OwnValue.unknown }
        guard firstSession[Int(record.account)] == none else { return OwnValue.login }
        return Int32(accounts[Int(record.account)].lastValue)
    }
}

extension Effects {
    /// Appends the state of an account that is not known, or may not be seen.
    mutating func appendUnknown(
        _ type: EventType, _ publisher: ByteRange, _ cause: Cause, seq: UInt64, at now: Wall
    ) {
        events.append(
            Event(
                type: type, publisher: publisher, value: OwnValue.unknown, cause: cause, seq: seq,
                time: now, online: type == .presence ? devices.count..<devices.count : nil))
    }
}
