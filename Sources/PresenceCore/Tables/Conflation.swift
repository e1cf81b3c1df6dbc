/// What a session has not been sent because it does not read as fast as it is sent.
struct Conflation {
    /// The topics that have changed since, in order, without duplicates.
    private(set) var topics: [TopicHandle] = []
    /// Where the next part of what it has missed begins.
    private var next = TopicHandle(index: 0)
    /// The progress of the session's login list; meanwhile the cursor of its link covers nothing.
    let cursor: ListCursor
    /// The place of the entry in the history.
    let delay: Int?
    /// Which ends the client is sent one by one, because no state contains them.
    let sends: Ends
    /// The most sights that it can have lost: an account can have as many contacts.
    let sightsMax: Int
    /// The client can know what others saw before the event, or the states, of this number.
    let beginning: UInt64
    /// The newest device that the client was sent with the state of a topic, by its begin. Only of
    /// topics with a device that began after `beginning`.
    private(set) var newestSent: [TopicHandle: UInt64] = [:]
    /// What has ended since that the client can have known, by the topic of the event; each of
    /// these is among `topics`. Devices: not more than the publishers had when it began, or when
    /// their states were last sent. Sights: not more than an account can have contacts at a time;
    /// of more, the account has got the rest meanwhile.
    private var ended: [TopicHandle: [EndedPresenceLog.Entry]] = [:]
    /// How many of these are sights.
    private var sightCount = 0
    /// Whether it has missed an event of which it is not known any more what that ended. Then its
    /// connection is closed: the client gets everything when it returns.
    private(set) var hasLostEnds = false

    /// Ends of parts of a publisher.
    struct Ends: OptionSet {
        let rawValue: UInt8
        static let devices = Ends(rawValue: 1)
        static let sights = Ends(rawValue: 2)
    }

    init(
        cursor: ListCursor, delay: Int? = nil, from beginning: UInt64, sends: Ends, sightsMax: Int
    ) {
        self.cursor = cursor
        self.delay = delay
        self.beginning = beginning
        self.sends = sends
        self.sightsMax = sightsMax
    }

    /// Notes an event of a topic, and what it ended. O(topics).
    ///
    /// `isLate`: the event may have happened before the client stopped taking events. If not,
    /// directed presence was withdrawn separately.
    mutating func note(
        _ topic: TopicHandle, _ ends: ArraySlice<EndedPresenceLog.Entry>, isLate: Bool
    ) {
        let place = topics.lowerBound(of: topic)
        if place == topics.count || topics[place] != topic { topics.insert(topic, at: place) }
        for entry in ends { note(entry, of: topic, isLate: isLate) }
    }

    /// Notes that it has missed an event of which it is unknown what that ended.
    mutating func noteLostEnds() {
        if !sends.isEmpty { hasLostEnds = true }
    }

    /// Notes an end, if the client can have known the part. O(ends of the topic).
    private mutating func note(
        _ entry: EndedPresenceLog.Entry, of topic: TopicHandle, isLate: Bool
    ) {
        guard ended[topic]?.contains(where: { $0.isSame(as: entry) }) != true else { return }
        switch entry.part {
        case .device(_, _, let began, let isDirected):
            guard sends.contains(.devices),
                canKnow(topic, deviceFrom: began) || isLate && isDirected
            else { return }
        case .sight:
            guard sends.contains(.sights), sightCount < sightsMax else { return }
            sightCount += 1
        }
        ended[topic, default: []].append(entry)
    }

    /// Whether the client can know a device that others have seen since `began`: from before, or
    /// from a part of what it has missed.
    private func canKnow(_ topic: TopicHandle, deviceFrom began: UInt64) -> Bool {
        began < beginning || began <= newestSent[topic] ?? 0
    }

    /// Notes that the client is sent the state of a topic, and when others began to see the newest
    /// device in it; nil: it has no device.
    mutating func noteSent(_ topic: TopicHandle, newestDevice began: UInt64?) {
        precondition(ended[topic] == nil, "a state before the ends that precede it")
        newestSent[topic] = began.flatMap { $0 < beginning ? nil : $0 }
    }

    /// Forgets what the client was sent of topics that do not matter to the session.
    mutating func keepSent(where matters: (TopicHandle) -> Bool) {
        newestSent = newestSent.filter { matters($0.key) }
    }

    /// Takes out what missed events of a topic have ended, and what waiting ones end.
    mutating func takeEnded(
        of topic: TopicHandle, and ahead: [EndedPresenceLog.Entry]
    ) -> [EndedPresenceLog.Entry] {
        for entry in ahead { note(entry, of: topic, isLate: true) }
        guard let parts = ended.removeValue(forKey: topic) else { return [] }
        sightCount -= parts.count { $0.part == .sight }
        return parts
    }

    /// Topics of which something has ended: they matter, whether or not the account still
    /// subscribes to them.
    var endedCount: Int { ended.count }

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

    /// Forgets topics that do not matter to the session, unless something of them has ended.
    mutating func keep(where matters: (TopicHandle) -> Bool) {
        topics.removeAll { !matters($0) && ended[$0] == nil }
    }

    /// Traps unless its parts agree with each other. O(all that it has missed); for tests.
    func checkInvariants() {
        precondition(zip(topics, topics.dropFirst()).allSatisfy(<), "topics in order")
        let known = Set(topics)
        precondition(ended.keys.allSatisfy(known.contains), "an end of a topic without changes")
        let sights = ended.values.joined().count { $0.part == .sight }
        precondition(sights == sightCount, "miscounted sights")
    }
}

extension EndedPresenceLog.Entry {
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
