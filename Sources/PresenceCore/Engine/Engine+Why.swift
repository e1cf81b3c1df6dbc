// `why`: what the tables and the history say of one subscriber and one publisher.
//
// Everything is found by going through the rings from the newest note to the oldest, when it is
// asked for: some 8 MiB at most, about a millisecond.

import Containers

/// Whom `why` is about; nil: a name that nobody knows.
public struct WhyQuestion: Hashable, Sendable {
    /// Who watches, or is thought to.
    public var subscriber: AccountHandle?
    /// Who is watched, or thought to be.
    public var publisher: AccountHandle?
    /// The publisher's name, for a state of somebody unknown.
    public var publisherName: [UInt8]
    /// Of what.
    public var type: EventType

    /// A question.
    public init(
        subscriber: AccountHandle?, publisher: AccountHandle?, publisherName: [UInt8],
        type: EventType
    ) {
        self.subscriber = subscriber
        self.publisher = publisher
        self.publisherName = publisherName
        self.type = type
    }
}

extension Engine {
    /// Events that a report has at most.
    static var whyEventsMax: Int { 20 }
    /// Ended connections and subscriptions that a report has at most.
    static var whyEndedMax: Int { 10 }

    /// Tells why a subscriber sees, or does not see, a publisher. O(history).
    ///
    /// Changes nothing but the counter, from which the state of somebody unknown takes a number.
    public mutating func why(
        _ question: WhyQuestion, at now: Moment, into effects: inout Effects
    ) -> WhyReport {
        let state = effects.events.count
        if let publisher = question.publisher {
            appendState(of: publisher, question.type, at: now, into: &effects)
        } else {
            appendState(
                ofUnknown: question.publisherName, question.type, at: now, into: &effects)
        }
        let current = question.subscriber.flatMap { subscriber in
            question.publisher.flatMap { subscription(of: subscriber, to: $0, question.type) }
        }
        let ends = subscriptionEnds(question)
        return WhyReport(
            time: now.wall, type: question.type,
            subscriber: party(question.subscriber, at: now, into: &effects),
            publisher: party(question.publisher, at: now, into: &effects),
            subscription: current.map {
                WhySubscription(created: $0.created, until: now.wall(at: $0.deadline))
            },
            ended: ends.prefix(Self.whyEndedMax).map(\.line), state: state,
            events: events(question, current, ends, into: &effects),
            reach: WhyReach(
                events: history.eventsSince, subscriptions: history.subscriptionsSince,
                connections: history.connectionsSince, delays: history.delaysSince))
    }

    // MARK: Parties

    private func party(
        _ account: AccountHandle?, at now: Moment, into effects: inout Effects
    ) -> WhyParty {
        var party = WhyParty(isKnown: account != nil, sessions: [], ended: [])
        guard let account else { return party }
        var session = firstSession[Int(account.index)]
        while session != none {
            let entry = sessionEntry(session, at: now, into: &effects)
            party.sessions.append(
                WhySession(
                    entry: entry, connection: connectionID(of: session),
                    isListing: links[Int(session)].listedBelow != none))
            session = links[Int(session)].next
        }
        let noted = noted(account.index)
        for place in history.connections.places.reversed() {
            let note = history.connections[place]
            guard note.account == noted else { continue }
            party.ended.append(
                WhyConnection(
                    session: note.session, device: device(of: note, into: &effects),
                    client: note.client, since: note.loggedIn, lastHeard: note.lastHeard,
                    ended: note.ended, end: note.end, unsentBytes: Int(note.unsentBytes)))
            if party.ended.count == Self.whyEndedMax { break }
        }
        return party
    }

    private func device(of note: ConnectionNote, into effects: inout Effects) -> ByteRange {
        let start = effects.bytes.count
        history.devices.append(note.device, to: &effects.bytes)
        return ByteRange(start: Int32(start), count: Int32(effects.bytes.count - start))
    }

    // MARK: Subscriptions

    /// Something that lasted from one number to another.
    private struct Span {
        var after: UInt64
        var upTo: UInt64
        /// Where the number is not known: when it began.
        var notBefore = Wall(milliseconds: .min)

        func contains(_ note: EventNote) -> Bool {
            after < note.seq && note.seq <= upTo && notBefore <= note.time
        }
    }

    private struct EndedSubscription {
        var line: WhySubscription
        var span: Span
    }

    private func subscription(
        of subscriber: AccountHandle, to publisher: AccountHandle, _ type: EventType
    ) -> Edge? {
        guard let topic = topic(type, of: publisher),
            let place = index.position(of: topic, watchedBy: subscriber)
        else { return nil }
        return index.edges[Int(subscriber.index)][place]
    }

    /// The subscriptions that have ended, the last first.
    private func subscriptionEnds(_ question: WhyQuestion) -> [EndedSubscription] {
        guard let subscriber = question.subscriber, let publisher = question.publisher else {
            return []
        }
        let (watcher, watched) = (noted(subscriber.index), noted(publisher.index))
        var ends: [EndedSubscription] = []
        for place in history.subscriptions.places.reversed() {
            let note = history.subscriptions[place]
            guard note.publisher == watched, note.subscriber == watcher,
                note.type == question.type, let end = WhySubscription.End(note.change)
            else { continue }
            ends.append(
                EndedSubscription(
                    line: WhySubscription(created: note.created, until: note.time, end: end),
                    span: span(of: watcher, question.type, note.created, upTo: note.seq)))
        }
        return ends
    }

    /// From when on a subscription with this `created` has delivered.
    private func span(
        of subscriber: NotedAccount, _ type: EventType, _ created: Wall, upTo: UInt64
    ) -> Span {
        for place in history.subscriptions.places.reversed() {
            let note = history.subscriptions[place]
            guard note.change == .began, note.subscriber == subscriber, note.type == type,
                note.created == created
            else { continue }
            return Span(after: note.seq, upTo: upTo)
        }
        return Span(after: 0, upTo: upTo, notBefore: created)
    }

    // MARK: Events

    private func events(
        _ question: WhyQuestion, _ current: Edge?, _ ends: [EndedSubscription],
        into effects: inout Effects
    ) -> [WhyEvent] {
        guard let publisher = question.publisher else { return [] }
        let watched = noted(publisher.index)
        var subscribed = ends.map(\.span)
        if let current, let subscriber = question.subscriber {
            subscribed.append(
                span(of: noted(subscriber.index), question.type, current.created, upTo: .max))
        }
        let audience = question.subscriber.map { listeners(of: $0, into: &effects) } ?? []
        var events: [WhyEvent] = []
        for place in history.events.places.reversed() {
            let note = history.events[place]
            guard note.account == watched, note.type == question.type else { continue }
            events.append(self.event(note, subscribed, audience))
            if events.count == Self.whyEventsMax { break }
        }
        return events
    }

    private func event(
        _ note: EventNote, _ subscribed: [Span], _ audience: [Listener]
    ) -> WhyEvent {
        var event = WhyEvent(
            seq: note.seq, time: note.time, cause: note.cause, value: note.value,
            receivers: note.receivers, subscribed: .yes, fates: [],
            isComplete: note.time >= history.connectionsSince, nextLogin: nil)
        guard subscribed.contains(where: { $0.contains(note) }) else {
            event.subscribed = note.time >= history.subscriptionsSince ? .no : .unknown
            return event
        }
        let present = audience.filter { $0.span.contains(note) }
        event.fates = present.map { fate(of: note, at: $0) }
        if present.isEmpty {
            let later = audience.filter { $0.span.after >= note.seq }
                .min { $0.span.after < $1.span.after }
            event.nextLogin = later.map {
                WhyLogin(
                    session: $0.session, device: $0.device, time: $0.loggedIn, list: $0.list)
            }
        }
        return event
    }

    // MARK: Fates

    /// A connection of the subscriber, of now or before.
    private struct Listener {
        var session: SessionID
        var device: ByteRange
        var loggedIn: Wall
        var list: LoginList
        /// Up to which number its login list told what had happened.
        var listedSeq: UInt64
        var span: Span
        /// How it ended; nil: it has not.
        var end: ConnectionNote?
        var delays: [DelayNote]
    }

    private func listeners(
        of account: AccountHandle, into effects: inout Effects
    ) -> [Listener] {
        var listeners: [Listener] = []
        var session = firstSession[Int(account.index)]
        while session != none {
            let record = sessions[session]
            if record.phase == .connected {
                listeners.append(
                    Listener(
                        session: record.id, device: deviceEntry(of: session, into: &effects).name,
                        loggedIn: record.loggedIn, list: record.list,
                        listedSeq: record.listedSeq,
                        span: Span(after: record.id.ordinal, upTo: .max), end: nil, delays: []))
            }
            session = links[Int(session)].next
        }
        let noted = noted(account.index)
        for place in history.connections.places {
            let note = history.connections[place]
            guard note.account == noted else { continue }
            listeners.append(
                Listener(
                    session: note.session, device: device(of: note, into: &effects),
                    loggedIn: note.loggedIn, list: note.list, listedSeq: note.listedSeq,
                    span: Span(after: note.session.ordinal, upTo: note.endSeq), end: note,
                    delays: []))
        }
        for place in history.delays.places {
            let delay = history.delays[place]
            for index in listeners.indices where listeners[index].session == delay.session {
                listeners[index].delays.append(delay)
            }
        }
        return listeners
    }

    private func fate(of note: EventNote, at listener: Listener) -> WhyFate {
        var fate = WhyFate(session: listener.session, device: listener.device, what: .sent)
        if note.seq <= listener.listedSeq {
            fate.what = .listed
        } else if note.hasGivenWay {
            fate.what = .gaveWay
        } else if let delay = listener.delays.first(where: {
            $0.fromSeq <= note.seq && note.seq <= $0.toSeq
        }) {
            let isOver = delay.toSeq != .max
            fate.time = isOver ? delay.to : listener.end?.ended
            fate.what = isOver ? .conflated : listener.end == nil ? .waiting : .dropped
        } else if let end = listener.end, end.end.isSudden, note.time >= end.lastHeard {
            fate.what = .uncertain
            fate.time = end.ended
        } else if note.isLarge, isUnderWay(note) {
            fate.what = .underWay
        }
        return fate
    }

    private func isUnderWay(_ note: EventNote) -> Bool {
        let account = AccountHandle(index: note.account.number)
        guard let topic = topic(note.type, of: account) else { return false }
        return fanOuts.walks[topic.index]?.events.contains(note.seq) ?? false
    }
}

extension ConnectionEnd {
    /// Whether what it was sent last may never have come.
    var isSudden: Bool {
        switch self {
        case .logout, .kicked, .replaced: false
        case .silent, .lost, .tooSlow, .violation: true
        }
    }
}

extension WhySubscription.End {
    fileprivate init?(_ change: SubscriptionNote.Change) {
        switch change {
        case .began: return nil
        case .expired: self = .expired
        case .endedByAccount: self = .byAccount
        case .endedByAppServer: self = .byAppServer
        }
    }
}
