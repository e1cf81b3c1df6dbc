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
        /// Nobody's. Exits: open.
        case free
        /// Events go to the handler. Exits: lingering, closing.
        case open
        /// Saying goodbye: only `streamClosed` is still told. Exits: closing.
        case lingering
        /// `uv_close` has been called. Exits: free.
        case closing
    }

    /// What is going on beside the phase; they are independent of one another.
    struct Activity: OptionSet {
        let rawValue: UInt8
        static let reading = Activity(rawValue: 1)
        static let writePending = Activity(rawValue: 2)
        /// `streamEnded`, or its silent counterpart in other phases, has happened.
        static let ended = Activity(rawValue: 4)
        /// Our FIN is out.
        static let shutDown = Activity(rawValue: 8)
        /// `connect` has been called, and nothing is known of it yet.
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

    /// Slots that were ever in use at the same time.
    var capacity: UInt32 { UInt32(slots.count) }

    /// The slot's current tenant.
    func id(_ slot: UInt32) -> StreamID {
        StreamID(slot: slot, generation: slots[Int(slot)].generation)
    }

    /// Where the id's connection is, or nil when the id is not of this time.
    func index(of id: StreamID) -> Int? { find(id)?.index }

    /// Where the id's connection is, and how it is there.
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

    /// Takes a slot for a handle; the handle's memory stays the caller's until `release`.
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

    /// Frees a slot whose handle libuv has let go, and answers the id that has died with it.
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
