import Containers

/// How many connections each client's network has.
struct AddressBook: ~Copyable {
    private var names: NameTable
    private var counts: [UInt32] = []

    init(seed: UInt64) {
        names = NameTable(seed: seed)
    }

    /// Notes a connection from `network`. Returns nil if that has `max` connections already.
    mutating func enter(_ network: ClientNetwork?, max: Int?) -> UInt32? {
        guard let name = network?.bytes else { return .max }
        if let max, let known = names.find(name.span), Int(counts[Int(known)]) >= max {
            return nil
        }
        let number = names.intern(name.span)
        while counts.count <= Int(number) { counts.append(0) }
        counts[Int(number)] += 1
        return number
    }

    /// Notes the end of a connection.
    mutating func leave(_ number: UInt32) {
        guard number != .max else { return }
        counts[Int(number)] -= 1
        if counts[Int(number)] == 0 { names.remove(number) }
    }

    /// The network of a number that `enter` has returned.
    func network(_ number: UInt32) -> ClientNetwork? {
        number == .max ? nil : ClientNetwork(name: names.bytes(of: number))
    }

    /// Networks with connections now.
    var count: Int { names.count }
}
