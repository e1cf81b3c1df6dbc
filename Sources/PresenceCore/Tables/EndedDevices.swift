import Containers

/// Which devices have ended lately, for clients that see the devices of a publisher one by one.
///
/// A client that has missed such an event is sent the newest state, which names the devices that
/// are online. A native client replaces what it knew; one of XMPP must be told which device went.
/// Kept only while there are sessions of XMPP.
struct EndedDevices {
    /// Entries that are kept: a client reports what it has missed within some turns.
    static let countMax = 4_096

    /// A device whose session has ended, or is not shown any more.
    struct Entry {
        /// The `seq` of the event.
        let seq: UInt64
        let topic: TopicHandle
        /// When the session began, among all numbers.
        let began: UInt64
        let device: [UInt8]
    }

    private var entries: [Entry] = []

    /// Adds the newest.
    mutating func append(_ entry: Entry) {
        if entries.count == Self.countMax { entries.removeFirst(Self.countMax / 2) }
        entries.append(entry)
    }

    /// The device whose end this event of a topic tells. O(log n).
    func entry(ofEvent seq: UInt64, _ topic: TopicHandle) -> Entry? {
        let place = entries.partitionPoint { $0.seq < seq }
        guard place < entries.count, entries[place].seq == seq, entries[place].topic == topic
        else { return nil }
        return entries[place]
    }

    /// Forgets all.
    mutating func removeAll() { entries = [] }
}
