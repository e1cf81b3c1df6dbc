/// What a session has missed because it does not read as fast as it is sent.
struct Conflation {
    /// The topics that have changed since, in order, without duplicates.
    private(set) var topics: [TopicHandle] = []
    /// How far the session's login list has come; meanwhile the cursor of its link covers nothing.
    let cursor: ListCursor
    /// The place of the entry in the history.
    let delay: Int?
    /// The first event that it has missed.
    let beginning: UInt64
    /// The devices that it knew and that have ended since; for clients that see devices one by one.
    /// Not more than the sessions that the publishers had when it began.
    private(set) var ended: [EndedDevice] = []

    /// A device of a publisher that has ended.
    struct EndedDevice: Hashable {
        let topic: TopicHandle
        let device: [UInt8]
    }

    init(cursor: ListCursor, delay: Int?, fromEvent seq: UInt64) {
        self.cursor = cursor
        self.delay = delay
        beginning = seq
    }

    /// Notes that a device has ended, if the client can have known it. O(devices that have ended).
    mutating func note(_ entry: EndedDevices.Entry) {
        let device = EndedDevice(topic: entry.topic, device: entry.device)
        guard entry.began < beginning, !ended.contains(device) else { return }
        ended.append(device)
    }

    /// Takes out the devices of a topic that have ended.
    mutating func takeEnded(of topic: TopicHandle) -> [[UInt8]] {
        guard !ended.isEmpty else { return [] }
        let devices = ended.filter { $0.topic == topic }.map(\.device)
        if !devices.isEmpty { ended.removeAll { $0.topic == topic } }
        return devices
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
        ended.removeAll { !matters($0.topic) }
    }
}
