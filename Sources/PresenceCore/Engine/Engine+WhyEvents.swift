// `why`: the newest events of the publisher, and the fate of each on the subscriber's connections.

import Containers

extension Engine {
    /// The newest events of the publisher, newest first. O(history).
    func events(
        _ question: WhyQuestion, _ subscribed: SubscribedSpans, into effects: inout Effects
    ) -> [WhyEvent] {
        let notes = newestEvents(question)
        let connections = question.subscriber.map { subscriberConnections(during: notes, of: $0) }
        return notes.indices.map { place in
            let note = notes[place]
            let isForgotten = question.subscriberForgotten.map { note.seq <= $0.seq } ?? false
            var event = WhyEvent(
                seq: note.seq, time: note.time, cause: note.cause, value: note.value,
                receivers: note.receivers, subscribed: .yes, fates: [],
                isComplete: note.time >= history.connectionsSince && !isForgotten, nextLogin: nil)
            guard subscribed.contains(note) else {
                let isKnown = note.time >= history.subscriptionsSince && !isForgotten
                event.subscribed = isKnown ? .no : .unknown
                return event
            }
            guard let connections else { return event }
            event.fates = connections.present[place].map { listener in
                fate(of: note, at: listener, connections.delays[listener.session] ?? [], &effects)
            }
            if event.fates.isEmpty, let next = connections.nextLogin(after: place) {
                event.nextLogin = WhyLogin(
                    session: next.session, device: device(of: next, into: &effects),
                    time: next.loggedIn, list: next.list)
            }
            return event
        }
    }

    private func newestEvents(_ question: WhyQuestion) -> [EventNote] {
        guard let publisher = question.publisher else { return [] }
        let wanted = historyAccount(publisher.index)
        var notes: [EventNote] = []
        history.events.forEachNewestFirst { note in
            guard note.account == wanted, note.type == question.type else { return .on }
            notes.append(note)
            return notes.count == Self.whyEventsMax ? .stop : .on
        }
        return notes
    }

    // MARK: Connections

    /// A connection of the subscriber, open or closed.
    private struct SubscriberConnection {
        var session: SessionID
        var loggedIn: Wall
        var list: LoginList
        /// Up to which number its login list included what had happened.
        var listedSeq: UInt64
        /// Which connection it is.
        var connection: Which

        enum Which {
            /// An open one, of the session in this slot.
            case open(UInt32)
            case ended(ConnectionNote)
        }

        /// How it ended; nil while it is open.
        var end: ConnectionNote? {
            if case .ended(let note) = connection { note } else { nil }
        }
        var span: NumberSpan {
            NumberSpan(after: session.ordinal, upTo: end?.endSeq ?? .max)
        }
    }

    /// The connections that matter to some events.
    private struct SubscriberConnections {
        /// The events, newest first.
        let notes: [EventNote]
        /// By event: the connections of that time.
        var present: [[SubscriberConnection]]
        /// By event: the first login after it and before the event that follows it.
        var next: [SubscriberConnection?]
        /// When these connections were behind, by session.
        var delays: [SessionID: [DelayNote]] = [:]

        init(_ notes: [EventNote]) {
            self.notes = notes
            present = Array(repeating: [], count: notes.count)
            next = Array(repeating: nil, count: notes.count)
        }

        mutating func add(_ listener: SubscriberConnection) {
            let span = listener.span
            var place = notes.partitionPoint { $0.seq > span.upTo }
            while place < notes.count, notes[place].seq > span.after {
                present[place].append(listener)
                place += 1
            }
            let before = notes.partitionPoint { $0.seq > span.after }
            guard before < notes.count else { return }
            if next[before].map({ span.after < $0.span.after }) ?? true { next[before] = listener }
        }

        /// The first login after an event.
        func nextLogin(after place: Int) -> SubscriberConnection? {
            next[...place].last { $0 != nil } ?? nil
        }
    }

    private func subscriberConnections(
        during notes: [EventNote], of account: AccountHandle
    ) -> SubscriberConnections {
        var connections = SubscriberConnections(notes)
        guard !notes.isEmpty else { return connections }
        for session in shownSessions(of: account) where sessions[session].phase == .connected {
            let record = sessions[session]
            connections.add(
                SubscriberConnection(
                    session: record.id, loggedIn: record.loggedIn, list: record.list,
                    listedSeq: record.listedSeq, connection: .open(session)))
        }
        let wanted = historyAccount(account.index)
        for place in history.connections.places {
            let note = history.connections[place]
            guard note.account == wanted else { continue }
            connections.add(
                SubscriberConnection(
                    session: note.session, loggedIn: note.loggedIn, list: note.list,
                    listedSeq: note.listedSeq, connection: .ended(note)))
        }
        addDelays(to: &connections)
        return connections
    }

    private func addDelays(to connections: inout SubscriberConnections) {
        for listener in connections.present.joined() { connections.delays[listener.session] = [] }
        guard !connections.delays.isEmpty else { return }
        for place in history.delays.places {
            let delay = history.delays[place]
            connections.delays[delay.session]?.append(delay)
        }
    }

    private func device(of listener: SubscriberConnection, into effects: inout Effects) -> ByteRange
    {
        switch listener.connection {
        case .open(let session): deviceEntry(of: session, into: &effects).name
        case .ended(let note): device(of: note, into: &effects)
        }
    }

    // MARK: Fates

    private func fate(
        of note: EventNote, at listener: SubscriberConnection, _ delays: [DelayNote],
        _ effects: inout Effects
    ) -> WhyFate {
        var fate = WhyFate(
            session: listener.session, device: device(of: listener, into: &effects), what: .sent)
        if note.seq <= listener.listedSeq {
            fate.what = .listed
        } else if note.isReplaced {
            fate.what = .replaced
        } else if let delay = delays.first(where: {
            $0.fromSeq <= note.seq && note.seq <= $0.toSeq
        }) {
            let isOver = delay.toSeq != .max
            fate.time = isOver ? delay.to : listener.end?.ended
            fate.what = isOver ? .conflated : listener.end == nil ? .waiting : .dropped
        } else if let end = listener.end, end.end.isSudden, note.time >= end.lastHeard {
            fate.what = .uncertain
            fate.time = end.ended
        } else if note.isLarge, isUnderWay(note) {
            fate.what = .inProgress
        }
        return fate
    }

    private func isUnderWay(_ note: EventNote) -> Bool {
        let account = AccountHandle(index: note.account.number)
        guard let topic = topic(note.type, of: account) else { return false }
        return fanOuts.walks[topic.index]?.events.contains { $0.seq == note.seq } ?? false
    }
}

extension ConnectionEnd {
    /// Whether what was sent to it last may not have arrived.
    var isSudden: Bool {
        switch self {
        case .logout, .kicked, .replaced: false
        case .silent, .lost, .tooSlow, .violation: true
        }
    }
}
