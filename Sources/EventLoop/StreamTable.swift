// Which slot holds which connection. A connection is a `uv_tcp_t` on the heap (248 bytes, its
// address is fixed because the loop's queues point into it) and 24 bytes here; no Swift object,
// no closure.
//
// A slot goes free → open → (lingering →) closing → free. `closing` begins with `uv_close` and
// ends in its callback, the first moment at which libuv lets the memory go; only then does the
// generation rise, so that a slot's current id is right in every callback in between.

import CLibUV

/// The state of one slot.
@safe struct StreamSlot {
    enum Phase: UInt8 {
        /// Free. To: `open`.
        case free
        /// Events go to the handler. To: `lingering`, `closing`.
        case open
        /// Closing gracefully: only `streamClosed` is still called. To: `closing`.
        case lingering
        /// `uv_close` has been called. To: `free`.
        case closing
    }

    /// Flags beside the phase, independent of each other.
    struct Activity: OptionSet {
        let rawValue: UInt8
        static let reading = Activity(rawValue: 1)
        static let writePending = Activity(rawValue: 2)
        /// `streamEnded`, or its silent counterpart in other phases, has happened.
        static let ended = Activity(rawValue: 4)
        /// FIN has been sent.
        static let shutDown = Activity(rawValue: 8)
        /// `connect` has been called; its result is not known yet.
        static let connecting = Activity(rawValue: 16)
    }

    var tcp: UnsafeMutablePointer<uv_tcp_t>?
    var generation: UInt32 = 1
    var nextFree: UInt32 = StreamTable.none
    /// The socket of `tcp`, once it has been asked for; libuv closes it in `uv_close`.
    var descriptor: CInt?
    var phase = Phase.free {
        didSet { if phase == .closing { descriptor = nil } }
    }
    var activity: Activity = []
}

/// The slots of a loop, reused last in, first out.
@safe struct StreamTable {
    static let none = UInt32.max

    private(set) var openCount = 0
    private var slots: [StreamSlot] = []
    private var firstFree = StreamTable.none

    /// The most slots that were in use at the same time.
    var capacity: UInt32 { UInt32(slots.count) }

    /// The id of the slot's current connection.
    func id(_ slot: UInt32) -> StreamID {
        StreamID(slot: slot, generation: slots[Int(slot)].generation)
    }

    /// The index of the id's connection; nil if the id is stale.
    func index(of id: StreamID) -> Int? { find(id)?.index }

    /// The index of the id's connection, and its phase.
    func find(_ id: StreamID) -> (index: Int, stream: StreamSlot)? {
        let index = Int(id.slot)
        guard index < slots.count else { return nil }
        let slot = slots[index]
        guard slot.generation == id.generation, slot.phase != .free else { return nil }
        return (index, slot)
    }

    subscript(index: Int) -> StreamSlot {
        get { slots[index] }
        set { slots[index] = newValue }
        _modify { yield &slots[index] }
    }

    /// Takes a slot for a handle; the handle's memory belongs to the caller until `release`.
    mutating func take(_ tcp: UnsafeMutablePointer<uv_tcp_t>) -> UInt32 {
        if firstFree == StreamTable.none {
            precondition(slots.count < Int(StreamTable.none))
            firstFree = capacity
            slots.append(StreamSlot())
        }
        let slot = firstFree
        precondition(slots[Int(slot)].phase == .free)
        firstFree = slots[Int(slot)].nextFree
        slots[Int(slot)].nextFree = StreamTable.none
        unsafe slots[Int(slot)].tcp = unsafe tcp
        slots[Int(slot)].phase = .open
        openCount += 1
        return slot
    }

    /// Frees a slot whose handle libuv has closed, and returns the id that is invalid from now on.
    mutating func release(_ slot: UInt32) -> StreamID {
        let index = Int(slot)
        precondition(slots[index].phase == .closing)
        let dead = id(slot)
        unsafe slots[index].tcp = nil
        slots[index].phase = .free
        slots[index].activity = []
        slots[index].descriptor = nil
        slots[index].generation &+= 1
        slots[index].nextFree = firstFree
        firstFree = slot
        openCount -= 1
        return dead
    }
}
