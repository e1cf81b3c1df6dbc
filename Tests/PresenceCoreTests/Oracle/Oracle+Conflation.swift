import PresenceCore

// Connections that do not keep up, written from docs/PROTOCOL.md: instead of what it has missed, a
// session is sent the newest state of each publisher, as it may see it by then, and what has gone.

extension Oracle {
    /// What a session has missed since its connection stopped taking events.
    struct Behind {
        /// The first event, among all that were sent.
        let began: Int
        var topics: Set<Topic> = []
        /// Publishers that it stopped seeing, in order.
        var lost: [String] = []
        /// Devices that it knew and that have gone, in order.
        var ended: [Departure] = []
    }

    /// A device that an event tells to have gone.
    struct Departure: Hashable {
        var publisher: String
        var device: String
        var client: ClientKind
        /// When others began to see it, among all events that were sent.
        var shown: Int
    }

    /// What a session is sent when it has drained.
    struct CaughtUp {
        /// The states that it must be sent.
        var required: [State] = []
        /// States that are no fault: of what it hears anyway.
        var permitted: [State] = []
    }

    func departures(of name: String) -> [Departure] {
        (accounts[name]?.sessions ?? []).map { departure(of: name, $0) }
    }

    func departure(of name: String, _ session: Session) -> Departure {
        Departure(
            publisher: name, device: session.device, client: session.client,
            shown: session.shown)
    }

    /// Sends an event, or notes that it was missed. `gone` is what it tells to have gone.
    func tell(_ event: State, gone: [Departure] = [], _ connection: ConnectionID) {
        guard !closed.contains(connection) else { return }
        eventsSent += 1
        if behind[connection] == nil, missing.contains(connection) {
            behind[connection] = Behind(began: eventsSent)
        }
        guard var missed = behind[connection], let (_, session) = shownSession(on: connection)
        else { return note(.event(event), connection) }
        missed.topics.insert(Topic(publisher: event.publisher, type: event.type))
        let isSightOver = event.cause == .hidden && event.type == 1
        if isSightOver, session.hearsContacts, !missed.lost.contains(event.publisher),
            missed.lost.count < settings.limits.contactsPerAccountMax
        {
            missed.lost.append(event.publisher)
        }
        for device in gone where session.client == .xmpp && device.shown < missed.began {
            let isNoted = missed.ended.contains {
                $0.publisher == device.publisher && $0.device == device.device
            }
            if !isNoted { missed.ended.append(device) }
        }
        behind[connection] = missed
    }

    /// Runs `body`, of which a connection is told nothing.
    func withoutTelling(_ connection: ConnectionID, _ body: () -> Void) {
        let (seenBefore, behindBefore) = (seen[connection], behind[connection])
        body()
        seen[connection] = seenBefore
        behind[connection] = behindBefore
    }

    private func shownSession(on connection: ConnectionID) -> (name: String, Session)? {
        guard let name = peers[connection]?.account,
            let session = accounts[name]?.sessions.first(where: { $0.connection == connection })
        else { return nil }
        return (name, session)
    }

    /// The connection has written everything.
    func drain(_ connection: ConnectionID) -> CaughtUp {
        guard let missed = behind.removeValue(forKey: connection),
            let (name, session) = shownSession(on: connection)
        else { return CaughtUp() }
        let heard = topics(of: session, name) + ownTopics(of: name)
        var result = CaughtUp()
        for publisher in Set(missed.lost + missed.ended.map(\.publisher)) {
            // The state of what it still subscribes to says that it is not seen.
            let topic = Topic(publisher: publisher, type: 1)
            guard session.client == .xmpp || !heard.contains(topic) else { continue }
            if let state = gone(publisher, missed, to: session, of: name) {
                result.required.append(state)
            }
        }
        for topic in missed.topics where heard.contains(topic) {
            let isLost = topic.type == 1 && missed.lost.contains(topic.publisher)
            guard session.client != .xmpp || !isLost || mayBeTold(session, of: name, topic) else {
                continue
            }
            result.required.append(stateAsSeen(by: session, of: name, topic))
        }
        result.permitted = heard.map { stateAsSeen(by: session, of: name, $0) }
        return result
    }

    private func mayBeTold(_ session: Session, of name: String, _ topic: Topic) -> Bool {
        topic.publisher == name || sees(session, of: name, topic)
    }

    private func gone(
        _ publisher: String, _ missed: Behind, to session: Session, of name: String
    ) -> State? {
        let isSeen = mayBeTold(session, of: name, Topic(publisher: publisher, type: 1))
        let devices = missed.ended.filter { device in
            guard device.publisher == publisher else { return false }
            let now = accounts[publisher]?.sessions ?? []
            return !isSeen || !now.contains { $0.device == device.device }
        }
        guard !devices.isEmpty || !isSeen && missed.lost.contains(publisher) else { return nil }
        return State(
            publisher: publisher, type: 1, value: 0, cause: .hidden, online: [],
            withdrawn: devices.map { "\($0.client):\($0.device)" })
    }

    private func ownTopics(of name: String) -> [Topic] {
        let custom = Topic(publisher: name, type: 100)
        let isKept = statuses[custom] != nil || accounts.keys.contains { watches($0, custom) }
        return [Topic(publisher: name, type: 1)] + (isKept ? [custom] : [])
    }

    /// What sessions have missed and do not hear any more is not owed to them, also if they hear it
    /// again later.
    func forgetUnheard() {
        for (connection, missed) in behind {
            guard let (name, session) = shownSession(on: connection) else {
                behind[connection] = nil
                continue
            }
            let heard = topics(of: session, name) + ownTopics(of: name)
            behind[connection]?.topics = missed.topics.filter { heard.contains($0) }
        }
    }
}
