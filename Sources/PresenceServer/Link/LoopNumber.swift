import EventLoop
import PresenceCore

/// Which of the connection loops: the low bits of the slots that the engine knows.
///
/// The engine's tables by slot stay dense, whichever loop has most connections, and a slot has the
/// number of its loop. With one loop there are no such bits.
struct LoopNumber: Hashable, Sendable {
    /// The loop's index, from 0.
    let index: Int
    private let loops: LoopCount

    /// The only one.
    static let only = LoopNumber(index: 0, of: 1)

    /// One of `count` loops.
    init(index: Int, of count: Int) {
        precondition((0..<count).contains(index), "a loop that there is not")
        self.index = index
        loops = LoopCount(count)
    }

    /// The loop's part of a maximum for all loops.
    func share(of max: Int) -> Int { max / loops.count }

    /// The slot that the engine knows.
    func engineSlot(_ slot: UInt32) -> UInt32 { loops.engineSlot(slot, of: index) }

    /// The loop's own slot.
    func local(_ slot: UInt32) -> UInt32 { loops.local(slot) }

    /// Whether a connection is of this loop.
    func has(_ connection: ConnectionID) -> Bool { loops.loop(of: connection.slot) == index }

    /// The name that the engine knows of a stream of this loop.
    func connection(_ id: StreamID) -> ConnectionID {
        ConnectionID(slot: engineSlot(id.slot), generation: id.generation)
    }

    /// The stream of a connection of this loop.
    func stream(_ connection: ConnectionID) -> StreamID {
        StreamID(slot: local(connection.slot), generation: connection.generation)
    }
}

/// How many connection loops there are: finds the loop of a slot that the engine knows.
///
/// The numbers behind those of the connection loops are for clients in this process, which have no
/// sockets (`InProcessClient`); at most `inProcessMax`.
struct LoopCount: Hashable, Sendable {
    /// The connection loops.
    let count: Int
    /// The most loops in process. A power of two: the low bits of their slots number them.
    static let inProcessMax = 4
    /// Bits that number the loops.
    private let bits: UInt32

    /// For `count` loops.
    init(_ count: Int) {
        precondition(count > 0, "no loop")
        self.count = count
        bits = UInt32(Int.bitWidth - (count - 1).leadingZeroBitCount)
    }

    /// The index of the loop.
    func loop(of slot: UInt32) -> Int {
        guard slot < ConnectionID.inProcessSlotMin else {
            return count + Int(slot) % Self.inProcessMax
        }
        return Int(slot & (1 << bits - 1))
    }

    /// The slot that the engine knows of the own slot of a loop in process.
    static func engineSlot(_ slot: UInt32, ofLoopInProcess number: Int) -> UInt32 {
        ConnectionID.inProcessSlotMin + slot * UInt32(inProcessMax) + UInt32(number)
    }

    /// The own slot of a loop in process.
    static func slotInProcess(_ slot: UInt32) -> UInt32 {
        (slot - ConnectionID.inProcessSlotMin) / UInt32(inProcessMax)
    }

    /// The index of a loop in process.
    func index(ofLoopInProcess number: Int) -> Int { count + number }

    /// The loop's own slot.
    func local(_ slot: UInt32) -> UInt32 { slot >> bits }

    /// The slot that the engine knows of a loop's own slot.
    func engineSlot(_ slot: UInt32, of loop: Int) -> UInt32 { slot << bits | UInt32(loop) }
}
