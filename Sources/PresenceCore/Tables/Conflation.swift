/// What a session has missed because it does not read as fast as it is sent.
struct Conflation {
    /// The topics that have changed since, in order, without duplicates.
    private(set) var topics: [TopicHandle] = []
    /// Where the next part of what it has missed begins.
    private var next = TopicHandle(index: 0)
    /// How far the session's login list has come; meanwhile the cursor of its link covers nothing.
    let cursor: ListCursor
    /// The place of the entry in the history.
    let delay: Int?
    /// The client can know what others saw before the event, or the states, of this number.
    let beginning: UInt64
    /// The newest device that the client was sent with the state of a topic, by its begin. Only of
    /// topics with a device that began after `beginning`.
    private(set) var newestSent: [TopicHandle: UInt64] = [:]
    /// What has gone since that the client can have known, by the topic of which an event told it;
    /// each of these is among `topics`. Devices: not more than the publishers had when it began, or
    /// when their states were last sent. Sights: not more than an account can have contacts at a
    /// time; of more, the account has got the rest meanwhile.
    private var departed: [TopicHandle: [Departed]] = [:]
    /// How many of these are sights.
    private var sightCount = 0
    /// Whether it has missed an event of which it is not known any more what that told to have
    /// gone. Then its connection is ended: the client gets everything when it returns.
    var hasLostEnds = false

    /// A part of a publisher that has gone.
    struct Departed: Hashable {
        let publisher: [UInt8]
        let part: Departures.Part

        init(_ entry: Departures.Entry) {
            publisher = entry.publisher
            part = entry.part
        }
    }

    init(cursor: ListCursor, delay: Int?, from beginning: UInt64) {
        self.cursor = cursor
        self.delay = delay
        self.beginning = beginning
    }

    /// Notes what has gone, if the client can have known it. O(what has gone of the topic).
    ///
    /// `isLate`: the event may have happened before the client stopped taking events. If not,
    /// directed presence was withdrawn separately.
    mutating func note(
        _ entry: Departures.Entry, of topic: TopicHandle, isLate: Bool, sightsMax: Int
    ) {
        let part = Departed(entry)
        guard departed[topic]?.contains(where: { $0.isSame(as: part) }) != true else { return }
        switch entry.part {
        case .device(_, _, let began, let isDirected):
            guard canKnow(topic, deviceFrom: began) || isLate && isDirected else { return }
        case .sight:
            guard sightCount < sightsMax else { return }
            sightCount += 1
        }
        departed[topic, default: []].append(part)
    }

    /// Whether the client can know a device that others have seen since `began`: from before, or
    /// from a part of what it has missed.
    private func canKnow(_ topic: TopicHandle, deviceFrom began: UInt64) -> Bool {
        began < beginning || began <= newestSent[topic] ?? 0
    }

    /// Notes that the client is sent the state of a topic, and when others began to see the newest
    /// device in it; nil: there is none. What has gone of the topic must have been taken out.
    mutating func noteSent(_ topic: TopicHandle, newestDevice began: UInt64?) {
        newestSent[topic] = began.flatMap { $0 < beginning ? nil : $0 }
    }

    /// Forgets what the client was sent of topics that do not matter to the session.
    mutating func keepSent(where matters: (TopicHandle) -> Bool) {
        newestSent = newestSent.filter { matters($0.key) }
    }

    /// Takes out what has gone that events of a topic told.
    mutating func takeDeparted(of topic: TopicHandle) -> [Departed] {
        guard let parts = departed.removeValue(forKey: topic) else { return [] }
        sightCount -= parts.count { $0.part == .sight }
        return parts
    }

    /// Topics of which something has gone: they matter, whether or not the account still subscribes
    /// to them.
    var departedCount: Int { departed.count }

    /// Notes that a topic has changed. O(topics).
    mutating func note(_ topic: TopicHandle) {
        let place = topics.lowerBound(of: topic)
        guard place == topics.count || topics[place] != topic else { return }
        topics.insert(topic, at: place)
    }

    /// The topics in the order in which their states are sent: those behind the last part come
    /// first, so that topics that change again and again do not keep others waiting.
    var topicsInTurn: [TopicHandle] {
        let place = topics.lowerBound(of: next)
        return Array(topics[place...] + topics[..<place])
    }

    /// Forgets topics whose states have been sent, the next in turn. O(topics).
    mutating func remove(_ sent: ArraySlice<TopicHandle>) {
        guard let last = sent.last else { return }
        next = TopicHandle(index: last.index + 1)
        let sent = Set(sent)
        topics.removeAll { sent.contains($0) }
    }

    /// Forgets topics that do not matter to the session, unless something of them has gone.
    mutating func keep(where matters: (TopicHandle) -> Bool) {
        topics.removeAll { !matters($0) && departed[$0] == nil }
    }

    /// Traps unless its parts agree with each other. O(all that it has missed); for tests.
    func checkInvariants() {
        precondition(zip(topics, topics.dropFirst()).allSatisfy(<), "topics in order")
        let known = Set(topics)
        precondition(departed.keys.allSatisfy(known.contains), "gone of a topic without changes")
        let sights = departed.values.joined().count { $0.part == .sight }
        precondition(sights == sightCount, "miscounted sights")
    }
}

extension Conflation.Departed {
    /// Whether both are the same device, whenever it began, or the same sight.
    fileprivate func isSame(as other: Self) -> Bool {
        guard publisher == other.publisher else { return false }
        return switch (part, other.part) {
        case (.device(let one, _, _, _), .device(let another, _, _, _)): one == another
        case (.sight, .sight): true
        case (.device, .sight), (.sight, .device): false
        }
    }
}
