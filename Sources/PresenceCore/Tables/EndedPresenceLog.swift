import Containers

/// What subscribers have lately been told to have gone: devices, and the sight of publishers.
///
/// A client that has missed such an event is sent the newest state, which does not say it. A state
/// names the devices that are online, and one of XMPP must be told which device has gone. Of a
/// publisher to which its account does not subscribe any more, a client is sent no state.
///
/// Everything is kept by the names of that time: until a client catches up, the number of a topic
/// may be that of another account's, and the publisher may have devices that the client never saw.
struct EndedPresenceLog {
    /// Entries that are kept, at least half of them: more than there are in the output that loops
    /// have not carried out. Some 100 bytes each.
    static let countMax = 32_768

    /// What has gone.
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
    /// The newest event whose entries were forgotten: what it and those before it told is unknown.
    private var forgottenUpTo: UInt64?

    init(countMax: Int = Self.countMax) {
        self.countMax = countMax
    }

    /// Whether it is unknown what an event told to have gone.
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

    /// What the event with this `seq` tells to have gone. O(log n).
    func entries(ofEvent seq: UInt64) -> ArraySlice<Entry> {
        guard let last = entries.last, last.seq >= seq else { return [] }
        return entries[entries.partitionPoint { $0.seq < seq }...].prefix { $0.seq == seq }
    }
}
