import Containers

/// The ends of devices, and of the sight of publishers, in the newest events.
///
/// A client that has missed such an event is sent the newest state, which does not contain the end.
/// A state names the devices that are online, and an XMPP client must be sent the end of each of
/// the others. A client is sent no state of a publisher to which its account does not subscribe any
/// more.
///
/// Everything is kept by the names of that time: until a client catches up, the number of a topic
/// may be that of another account's, and the publisher may have devices that the client never saw.
struct EndedPresenceLog {
    /// Entries that are kept, at least half of them: more than there are in the output that loops
    /// have not carried out. Some 100 bytes each.
    static let countMax = 32_768

    /// A part of a publisher that can end for a subscriber.
    enum Part: Hashable {
        /// A device whose session has ended, is not shown any more, or cannot be seen any more.
        /// `began` is when others began to see it, among all numbers. `isDirected`: it had also
        /// presented itself to a subscriber, which can know it from before.
        case device([UInt8], ClientKind, began: UInt64, isDirected: Bool)
        /// The sight of the publisher.
        case sight
    }

    struct Entry {
        /// The `seq` of the event.
        let seq: UInt64
        let publisher: [UInt8]
        let part: Part
    }

    private var entries: [Entry] = []
    private let countMax: Int
    /// The newest event whose entries were forgotten: what it and those before it ended is unknown.
    private var forgottenUpTo: UInt64?

    init(countMax: Int = Self.countMax) {
        self.countMax = countMax
    }

    /// Whether it is unknown what an event ended.
    func hasForgotten(event seq: UInt64) -> Bool {
        guard let forgottenUpTo else { return false }
        return seq <= forgottenUpTo
    }

    /// Adds the newest. O(1), amortised.
    mutating func append(_ entry: Entry) {
        if entries.count == countMax {
            forgottenUpTo = entries[countMax / 2 - 1].seq
            entries.removeFirst(countMax / 2)
        }
        entries.append(entry)
    }

    /// What the event with this `seq` ends. O(log n).
    func entries(ofEvent seq: UInt64) -> ArraySlice<Entry> {
        guard let last = entries.last, last.seq >= seq else { return [] }
        return entries[entries.partitionPoint { $0.seq < seq }...].prefix { $0.seq == seq }
    }
}
