import PresenceWire

/// A call whose response has not come.
struct PendingCall {
    var call: MethodCall
    var form: ResultForm
    /// Whether its caller may only read.
    var isReadOnly: Bool
    /// When it is given up.
    var deadline: UInt64
    var completion: InProcessClient.Completion
    /// The states that its result may have, once it is decoded.
    var states = 0
    /// What its result says of members that were ignored.
    var warnings: [ParameterWarning] = []
}

/// A reader of the feed.
struct InProcessReader {
    /// What has arrived and was not consumed: one share at most, which may have several items.
    var items: [FeedItem] = []
    /// Waits for the next item.
    var consumer: ((Result<FeedItem, InProcessError>) -> Void)?
    /// The engine host knows that the next share can follow.
    var hasAsked = false
}

/// The calls and feed readers of a client. A slot that is used again has another generation.
struct InProcessSlots {
    /// What a slot is used for.
    enum Use {
        case free
        /// A call that the engine host has not been asked yet. To: `asked`, `free`.
        case waiting(PendingCall)
        /// To: `reader`, `free`.
        case asked(PendingCall)
        /// To: `free`.
        case reader(InProcessReader)
    }

    private struct Slot {
        var generation: UInt32 = 0
        var use = Use.free
    }

    private var slots: [Slot] = []
    private var freeSlots: [UInt32] = []
    private(set) var waitingCount = 0
    private(set) var askedCount = 0
    private(set) var readerCount = 0
    /// States that the calls of `askedCount` ask for.
    private(set) var statesAsked = 0

    /// Takes a free slot.
    mutating func take(_ use: Use) -> InProcessClient.ID {
        if freeSlots.isEmpty {
            freeSlots.append(UInt32(slots.count))
            slots.append(Slot())
        }
        let slot = freeSlots.removeLast()
        slots[Int(slot)].generation &+= 1
        slots[Int(slot)].use = use
        count(use, 1)
        return InProcessClient.ID(slot: slot, generation: slots[Int(slot)].generation)
    }

    /// The use of the slot of a call or reader; free if it has ended.
    func use(of id: InProcessClient.ID) -> Use {
        guard id.slot < slots.count, slots[Int(id.slot)].generation == id.generation else {
            return .free
        }
        return slots[Int(id.slot)].use
    }

    /// Whether a call or reader has not ended.
    func isInUse(_ id: InProcessClient.ID) -> Bool {
        if case .free = use(of: id) { false } else { true }
    }

    /// Enters another use.
    mutating func enter(_ id: InProcessClient.ID, _ use: Use) {
        precondition(isInUse(id), "a caller that has ended")
        count(slots[Int(id.slot)].use, -1)
        slots[Int(id.slot)].use = use
        count(use, 1)
    }

    mutating func free(_ id: InProcessClient.ID) {
        enter(id, .free)
        freeSlots.append(id.slot)
    }

    /// Those that have not ended.
    var all: [InProcessClient.ID] {
        slots.indices.compactMap { index in
            let id = InProcessClient.ID(slot: UInt32(index), generation: slots[index].generation)
            return isInUse(id) ? id : nil
        }
    }

    /// Calls whose deadline has passed. O(slots).
    func due(at now: UInt64) -> [InProcessClient.ID] {
        all.filter { id in
            switch use(of: id) {
            case .waiting(let pending), .asked(let pending): pending.deadline <= now
            case .reader, .free: false
            }
        }
    }

    private mutating func count(_ use: Use, _ difference: Int) {
        switch use {
        case .free: break
        case .waiting: waitingCount += difference
        case .asked(let pending):
            askedCount += difference
            statesAsked += difference * pending.states
        case .reader: readerCount += difference
        }
    }
}
