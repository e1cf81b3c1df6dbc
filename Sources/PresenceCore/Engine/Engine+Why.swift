// `why`: what the tables and the history say of one subscriber and one publisher.
//
// Everything is found on request, by walking the rings from the newest entry to the oldest: each
// ring once per party at most, whatever a client has done. Some 9 MiB, about a millisecond.

import Containers

/// The subjects of `why`; nil is an account that is not known.
struct WhyQuestion {
    /// The subscriber, in fact or supposedly.
    var subscriber: AccountHandle?
    /// The publisher, in fact or supposedly.
    var publisher: AccountHandle?
    /// The type of state.
    var type: EventType
    /// When accounts of their names were forgotten last: nothing is known of what was before.
    var subscriberForgotten: ForgottenNote?
    var publisherForgotten: ForgottenNote?
}

extension Engine {
    /// Events that a report has at most.
    static var whyEventsMax: Int { 20 }
    /// Ended connections and subscriptions that a report has at most.
    static var whyEndedMax: Int { 10 }

    /// Explains why a subscriber sees, or does not see, a publisher. O(history).
    ///
    /// Changes nothing but the counter, from which the state of an unknown account takes a number.
    public mutating func why(
        subscriber: [UInt8], publisher: [UInt8], _ type: EventType, at now: Moment,
        into effects: inout Effects
    ) -> WhyReport {
        sequence.note(now.mono)
        let question = WhyQuestion(
            subscriber: find(subscriber.span), publisher: find(publisher.span), type: type,
            subscriberForgotten: forgotten(subscriber.span),
            publisherForgotten: forgotten(publisher.span))
        let state = effects.events.count
        if let account = question.publisher {
            appendState(of: account, type, at: now, into: &effects)
        } else {
            appendState(ofUnknown: publisher, type, at: now, into: &effects)
        }
        let current = question.subscriber.flatMap { subscriber in
            question.publisher.flatMap { subscription(of: subscriber, to: $0, type) }
        }
        let subscribed = subscribed(question, current)
        let sighted = question.publisher.flatMap { topic(type, of: $0) }
        return WhyReport(
            time: now.wall, type: type,
            subscriber: party(question.subscriber, seeing: sighted, at: now, into: &effects),
            publisher: party(question.publisher, seeing: nil, at: now, into: &effects),
            subscription: current.map {
                WhySubscription(created: $0.created, until: now.wall(at: $0.deadline))
            },
            relation: relation(question),
            visibility: question.publisher.map { visibility(of: $0.index) } ?? settings.visibility,
            ended: subscribed.ended, state: state,
            events: events(question, subscribed, into: &effects),
            messages: messages(between: question, into: &effects),
            reach: reach(question, at: now))
    }

    /// Since when everything of the two is known.
    private func reach(_ question: WhyQuestion, at now: Moment) -> WhyReach {
        let ofPublisher = question.publisherForgotten.map { now.wall(at: $0.time) }
        let ofSubscriber = question.subscriberForgotten.map { now.wall(at: $0.time) }
        func later(_ time: Wall, _ others: Wall?...) -> Wall {
            others.lazy.compactMap { $0 }.reduce(time, max)
        }
        return WhyReach(
            events: later(history.eventsSince, ofPublisher),
            subscriptions: later(history.subscriptionsSince, ofSubscriber, ofPublisher),
            connections: later(history.connectionsSince, ofSubscriber, ofPublisher),
            delays: later(history.delaysSince, ofSubscriber),
            messages: later(history.messagesSince, ofSubscriber, ofPublisher))
    }

    // MARK: Parties

    private func relation(_ question: WhyQuestion) -> RelationState {
        guard question.type == .presence, let subscriber = question.subscriber,
            let publisher = question.publisher
        else { return .none }
        return relations.relation(of: subscriber, to: publisher)?.seen ?? .none
    }

    private func party(
        _ account: AccountHandle?, seeing topic: TopicHandle?, at now: Moment,
        into effects: inout Effects
    ) -> WhyParty {
        var party = WhyParty(isKnown: account != nil, sessions: [], ended: [])
        guard let account else { return party }
        for session in allSessions(of: account) {
            let entry = sessionEntry(session, at: now, into: &effects)
            let isConnected = sessions[session].phase == .connected
            party.sessions.append(
                WhySession(
                    entry: entry,
                    isListing: isConnected && !listCursor(of: session).isComplete,
                    isSeeing: isSeeing(session, topic),
                    behind: conflations[session]?.topics.count ?? 0))
        }
        let wanted = historyAccount(account.index)
        history.connections.forEachNewestFirst { note in
            guard note.account == wanted else { return .on }
            party.ended.append(
                WhyConnection(
                    session: note.session, device: device(of: note, into: &effects),
                    client: note.client, since: note.loggedIn, lastHeard: note.lastHeard,
                    ended: note.ended, end: note.end, unsentBytes: Int(note.unsentBytes)))
            return party.ended.count == Self.whyEndedMax ? .stop : .on
        }
        return party
    }

    /// Whether a session sees a publisher; nil while it has no connection, or is hidden: it is sent
    /// nothing then.
    private func isSeeing(_ session: UInt32, _ topic: TopicHandle?) -> Bool? {
        guard let topic, links[Int(session)].connection != none,
            sessions[session].phase != .hidden
        else { return nil }
        return sees(topic, session)
    }

    func device(of note: ConnectionNote, into effects: inout Effects) -> ByteRange {
        effects.copy(note.device, from: history.devices)
    }
}
