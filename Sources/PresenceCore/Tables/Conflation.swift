/// What a session has missed because it does not read as fast as it is sent.
struct Conflation {
    /// The topics that have changed since, in order, without duplicates.
    private(set) var topics: [TopicHandle] = []
    /// How far the session's login list has come; meanwhile the cursor of its link covers nothing.
    let cursor: ListCursor
    /// The place of the entry in the history.
    let delay: Int?

    init(cursor: ListCursor, delay: Int?) {
        self.cursor = cursor
        self.delay = delay
    }

    /// Notes that a topic has changed. O(topics).
    mutating func note(_ topic: TopicHandle) {
        let place = topics.lowerBound(of: topic)
        guard place == topics.count || topics[place] != topic else { return }
        topics.insert(topic, at: place)
    }

    /// Forgets the first topics, whose states have been sent.
    mutating func removeFirst(_ count: Int) {
        topics.removeFirst(count)
    }

    /// Forgets topics that do not matter to the session.
    mutating func keep(where matters: (TopicHandle) -> Bool) {
        topics.removeAll { !matters($0) }
    }
}
