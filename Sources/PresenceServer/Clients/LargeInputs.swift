// Messages that have begun, are not complete, and are large. A message with a picture may arrive
// over a slow line, so it must be waited for; but a client that begins many of them and completes
// none would fill the memory. Those that began first are ended first: a client that sends at the
// speed of others is never rejected, however many are slow.

/// The large messages of clients that are not complete, by slot, with what they use.
struct LargeInputs {
    /// What a connection may keep of a message and be no matter of this list.
    static let bytesFree = 65_536

    private struct Input {
        var bytes: Int
        /// Those of them that had arrived at the end of the last period; zero in the first one.
        var bytesBefore = 0
        /// The place in the order in which they began.
        let order: UInt64
    }

    private var inputs: [Int: Input] = [:]
    private var begun: UInt64 = 0
    /// What all of them use.
    private(set) var bytes = 0

    /// How many there are.
    var count: Int { inputs.count }

    /// Notes what an incomplete message uses now.
    mutating func note(_ slot: Int, bytes new: Int) {
        precondition(new >= 0, "less than no input")
        guard new > Self.bytesFree else { return remove(slot) }
        if let input = inputs[slot] {
            bytes += new - input.bytes
            inputs[slot]?.bytes = new
        } else {
            begun += 1
            bytes += new
            inputs[slot] = Input(bytes: new, order: begun)
        }
    }

    /// The message is complete, or its connection has ended.
    mutating func remove(_ slot: Int) {
        guard !inputs.isEmpty, let input = inputs.removeValue(forKey: slot) else { return }
        bytes -= input.bytes
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

    /// The one that began first, if all of them use more than this and there are several.
    /// O(`count`): a connection ends for it.
    func firstToEnd(bytesMax: Int) -> Int? {
        guard bytes > bytesMax, inputs.count > 1 else { return nil }
        return inputs.min { $0.value.order < $1.value.order }?.key
    }

    /// Traps unless the sum is that of its parts. O(`count`).
    func checkInvariants() {
        precondition(bytes == inputs.values.reduce(0) { $0 + $1.bytes }, "miscounted input")
        precondition(inputs.values.allSatisfy { $0.bytes > Self.bytesFree }, "small input")
    }
}
