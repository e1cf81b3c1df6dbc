import Connections

// Messages that have begun, are not complete, and are large. A message with a picture may arrive
// over a slow line, so it must be waited for; but a client that begins many of them and completes
// none would fill the memory. So those of the network that has most are ended first, within it
// those of the account that has most, and of these the one that has not grown for the longest
// time. A slow client with one is ended only when all others have one.

/// The large messages of clients that are not complete, or that wait for a rate limit, by slot,
/// with what they use.
struct LargeInputs {
    /// What a connection may keep of a message and be no matter of this list.
    static let bytesFree = 65_536

    /// For whom an incomplete message counts.
    enum Owner: Hashable {
        /// An account, of which a hash is known, at a network.
        case client(ConnectionsPerNetwork.Entry, account: UInt32)
        /// Ended only when there are none of clients.
        case appServer
    }

    private struct Input {
        let owner: Owner
        var bytes: Int
        /// Those of them that had arrived at the end of the last period; zero in the first one.
        var bytesBefore = 0
        /// The place in the order in which they have grown.
        var order: UInt64
    }

    private var inputs: [Int: Input] = [:]
    /// How many there are of each owner, and of each network.
    private var countsByOwner: [Owner: Int] = [:]
    private var countsByNetwork: [ConnectionsPerNetwork.Entry: Int] = [:]
    private var changes: UInt64 = 0
    /// What all of them use.
    private(set) var bytes = 0

    /// How many there are.
    var count: Int { inputs.count }

    /// Notes what an incomplete message of an owner uses now.
    mutating func note(_ slot: Int, of owner: Owner, bytes new: Int) {
        precondition(new >= 0, "less than no input")
        guard new > Self.bytesFree else { return remove(slot) }
        changes += 1
        if let input = inputs[slot] {
            bytes += new - input.bytes
            if new > input.bytes { inputs[slot]?.order = changes }
            inputs[slot]?.bytes = new
        } else {
            bytes += new
            inputs[slot] = Input(owner: owner, bytes: new, order: changes)
            count(1, of: owner)
        }
    }

    /// The message is complete, or its connection has ended.
    mutating func remove(_ slot: Int) {
        guard !inputs.isEmpty, let input = inputs.removeValue(forKey: slot) else { return }
        bytes -= input.bytes
        count(-1, of: input.owner)
    }

    private mutating func count(_ difference: Int, of owner: Owner) {
        Self.change(&countsByOwner[owner], by: difference)
        guard case .client(let network, _) = owner else { return }
        Self.change(&countsByNetwork[network], by: difference)
    }

    private static func change(_ count: inout Int?, by difference: Int) {
        let new = (count ?? 0) + difference
        count = new == 0 ? nil : new
    }

    /// A period has ended in which a part of each message must arrive. Returns whether the message
    /// has another one: each 64 KiB of it have as long as a whole small one.
    mutating func hasNextPeriod(_ slot: Int) -> Bool {
        guard let input = inputs[slot], input.bytes - input.bytesBefore >= Self.bytesFree else {
            return false
        }
        inputs[slot]?.bytesBefore = input.bytes
        return true
    }

    /// The one to be ended, if all of them use more than this and there are several.
    /// O(`count`): a connection ends for it.
    func nextToEnd(bytesMax: Int) -> Int? {
        guard bytes > bytesMax, inputs.count > 1 else { return nil }
        return inputs.max { rank($0.value) < rank($1.value) }?.key
    }

    /// How early one is ended: the higher, the earlier.
    private func rank(_ input: Input) -> (Int, Int, UInt64) {
        let age = changes - input.order
        guard case .client(let network, _) = input.owner else { return (0, 0, age) }
        return (countsByNetwork[network] ?? 0, countsByOwner[input.owner] ?? 0, age)
    }

    /// Traps unless the sum is that of its parts. O(`count`).
    func checkInvariants() {
        precondition(bytes == inputs.values.reduce(0) { $0 + $1.bytes }, "miscounted input")
        precondition(inputs.values.allSatisfy { $0.bytes > Self.bytesFree }, "small input")
        precondition(
            countsByOwner.values.reduce(0, +) == inputs.count, "miscounted owners of input")
    }
}
