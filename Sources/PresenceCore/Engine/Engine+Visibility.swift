// Whom a publisher's subscribers see: the one rule, and what happens when it changes.
//
// A session sees a publisher if the subscription of its account has a lease that the publisher's
// visibility admits and by which the session is notified. Every way by which a state leaves the
// engine asks this: fan-outs, at once and in slices; login lists; what a session has missed; the
// states in an answer to `subscribe`; and what follows an approval. App servers see everything.

import Containers

/// The subscribers of a topic that an event is for.
struct Viewers: Hashable {
    /// Those that are notified by one of these leases,
    let leases: Leases
    /// and by none of these.
    let excluded: Leases
    /// Whether the publisher is among them, if it subscribes to itself: it always sees itself, so
    /// its sight neither begins nor ends.
    let includesPublisher: Bool
    /// A bit for each set of leases: whether a session that is notified by these is among them. A
    /// fan-out asks this for each session.
    private let included: UInt8

    /// All of them.
    static let all = Viewers(leases: .all)

    init(leases: Leases, excluded: Leases = [], includesPublisher: Bool = true) {
        self.leases = leases
        self.excluded = excluded
        self.includesPublisher = includesPublisher
        var included: UInt8 = 0
        for bits in 0...Leases.all.rawValue {
            let shared = Leases(rawValue: bits)
            guard !shared.isDisjoint(with: leases), shared.isDisjoint(with: excluded) else {
                continue
            }
            included |= 1 << bits
        }
        self.included = included
    }

    /// Whether a session is notified; `shared` is the leases of its account by which it is.
    @inline(__always)
    func include(_ shared: Leases) -> Bool {
        included >> shared.rawValue & 1 != 0
    }

    /// Those of these that are also among others.
    func limited(to others: Leases) -> Viewers {
        Viewers(
            leases: leases.intersection(others), excluded: excluded,
            includesPublisher: includesPublisher)
    }
}

extension Engine {
    /// Which of its subscribers see an account.
    func visibility(of account: UInt32) -> Visibility {
        accounts[Int(account)].visibility ?? settings.visibility
    }

    /// The subscribers that see the publisher of a topic.
    func viewers(of topic: TopicHandle) -> Viewers {
        Viewers(leases: visibility(of: topics[topic.index].account).leases)
    }

    /// Whether a session sees the publisher of a topic. O(log n).
    ///
    /// Inlined: see `caller`.
    @inline(__always)
    func sees(_ topic: TopicHandle, _ session: UInt32) -> Bool {
        let account = AccountHandle(index: sessions[session].account)
        return sees(topic, session, by: index.leases(on: topic, by: account))
    }

    /// Whether a session sees the publisher of a topic to which its account subscribes by `leases`.
    @inline(__always)
    func sees(_ topic: TopicHandle, _ session: UInt32, by leases: Leases) -> Bool {
        let shared = leases.intersection(links[Int(session)].hears)
        let publisher = topics[topic.index].account
        if publisher == sessions[session].account { return !shared.isEmpty }
        return !shared.isDisjoint(with: visibility(of: publisher).leases)
    }

    /// Appends the state of a topic as a session may see it.
    mutating func appendState(
        _ topic: TopicHandle, asSeenBy session: UInt32, at now: Moment, into effects: inout Effects
    ) {
        let isOwn = topics[topic.index].account == sessions[session].account
        if isOwn || sees(topic, session) {
            appendState(topic, at: now, into: &effects)
        } else {
            let account = AccountHandle(index: sessions[session].account)
            appendHidden(
                topic, .sync, seq: numberOfHidden(topic, for: account), at: now, into: &effects)
        }
    }

    /// Appends the state of an unknown account in the place of a topic's.
    func appendHidden(
        _ topic: TopicHandle, _ cause: Cause, seq: UInt64, at now: Moment,
        into effects: inout Effects
    ) {
        let record = topics[topic.index]
        let publisher = effects.copyName(of: record.account, from: self)
        effects.appendUnknown(record.type, publisher, cause, seq: seq, at: now.wall)
    }

    // MARK: Changes

    /// What it takes to make an event without receivers.
    private static var visitsOfEvent: Int { 16 }

    /// Has the visibility of an account stored.
    mutating func setVisibility(
        _ account: AccountHandle, _ visibility: Visibility?, from connection: ConnectionID,
        at now: Moment, into effects: inout Effects
    ) throws(Rejection) {
        try checkPublishPace(of: account, at: now)
        propose(
            .setVisibility(visibility), .putVisibility(account: account, visibility),
            of: account, for: connection, at: now, into: &effects)
    }

    /// Applies what has been stored: from now on others see the account, or do not.
    mutating func applyVisibility(
        _ change: PendingChange, _ visibility: Visibility?, at now: Moment,
        into effects: inout Effects
    ) {
        let before = self.visibility(of: change.account.index).leases
        accounts[Int(change.account.index)].visibility = visibility
        retired.append(change.account.index)
        let current = self.visibility(of: change.account.index)
        let after = current.leases
        effects.answer(change.connection, .visibilitySet(current))
        let losing = Viewers(
            leases: before.subtracting(after), excluded: after, includesPublisher: false)
        let gaining = Viewers(
            leases: after.subtracting(before), excluded: before, includesPublisher: false)
        guard before != after else { return }
        forEachTopic(of: change.account) { engine, topic in
            effects.visit(Self.visitsOfEvent)
            engine.renumber(topic)
            engine.announce(.hidden, topic, to: losing, at: now, into: &effects)
            engine.announce(.shown, topic, to: gaining, at: now, into: &effects)
        }
        noteSightChange(of: change.account)
    }

    /// Sends subscribers that they have lost or gained the sight of a publisher. Feed readers have
    /// not.
    private mutating func announce(
        _ cause: Cause, _ topic: TopicHandle, to viewers: Viewers, at now: Moment,
        into effects: inout Effects
    ) {
        guard !viewers.leases.isEmpty, index.subscriberCount(of: topic) > 0 else { return }
        let late = cause == .hidden ? endsWaiting(of: topic, for: viewers) : []
        beginSight(cause, of: topic, alsoEnding: late, at: now, into: &effects)
        let fanned = fanOut(topic, to: viewers, alsoTo: .nobody, into: &effects)
        let value = effects.events[effects.events.count - 1].value
        note(topic, value: value, cause, fanned, at: now.wall)
    }

    /// Appends the event with which the sight of a publisher begins or ends.
    ///
    /// `late`: devices that ended before, the ends of which its receivers are not sent otherwise.
    mutating func beginSight(
        _ cause: Cause, of topic: TopicHandle, alsoEnding late: [EndedPresenceLog.Entry] = [],
        at now: Moment, into effects: inout Effects
    ) {
        topics[topic.index].seq = sequence.next()
        stats.events += 1
        tallies.count(cause)
        let start = effects.devices.count
        appendState(topic, at: now, into: &effects)
        let event = effects.events.count - 1
        effects.events[event].cause = cause
        guard cause == .hidden else { return }
        // What the receivers could see stays for protocols that end it device by device.
        for case .device(let device, let client, _, _) in late.map(\.part) {
            effects.devices.append(
                DeviceEntry(client: client, name: effects.copy(device), reach: .connection))
        }
        let devices = start..<effects.devices.count
        effects.events.removeLast()
        appendHidden(
            topic, .hidden, seq: topics[topic.index].seq, at: now, into: &effects)
        effects.events[event].withdrawn = devices
        noteEndOfSight(of: topic, alsoEnding: late)
    }
}
