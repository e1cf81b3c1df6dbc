public import Containers

/// How many connections each client's network has.
public struct ConnectionsPerNetwork: ~Copyable {
    private var names: NameTable
    private var counts: [UInt32] = []

    /// What a connection has to leave when it ends: its network, or none.
    public struct Entry: Hashable, Sendable {
        fileprivate var number: UInt32

        /// That of a connection that was not entered.
        public static let none = Entry(number: .max)
        /// That of a connection that was entered without a network: its peer had already closed it.
        fileprivate static let withoutNetwork = Entry(number: .max - 1)

        fileprivate var hasNetwork: Bool { self != .none && self != .withoutNetwork }
    }

    /// An empty one. `seed` protects its hash table.
    public init(seed: UInt64) {
        names = NameTable(seed: seed)
    }

    /// Notes a connection from `network`. Returns nil if that has `max` connections already.
    public mutating func enter(_ network: ClientNetwork?, max: Int?) -> Entry? {
        guard let name = network?.bytes else { return .withoutNetwork }
        if let max, let known = names.find(name.span), Int(counts[Int(known)]) >= max {
            return nil
        }
        let number = names.intern(name.span)
        while counts.count <= Int(number) { counts.append(0) }
        counts[Int(number)] += 1
        return Entry(number: number)
    }

    /// Notes the end of a connection.
    public mutating func leave(_ entry: Entry) {
        guard entry.hasNetwork else { return }
        counts[Int(entry.number)] -= 1
        if counts[Int(entry.number)] == 0 { names.remove(entry.number) }
    }

    /// The network of an entry that `enter` has returned.
    public func network(_ entry: Entry) -> ClientNetwork? {
        entry.hasNetwork ? ClientNetwork(name: names.bytes(of: entry.number)) : nil
    }

    /// Networks with connections now.
    public var count: Int { names.count }
}
