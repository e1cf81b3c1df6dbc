import Containers

/// An event: 32 bytes.
struct EventNote {
    let seq: UInt64
    let time: Wall
    let value: Int32
    private let number: UInt32
    /// The number of connections that it was sent to, and two marks.
    private var receiversAndMarks: UInt32
    private let typeNumber: UInt16
    /// Ten bits of the generation, six of the cause.
    private let generationAndCause: UInt16

    private static let largeMark: UInt32 = 1 << 31
    private static let replacedMark: UInt32 = 1 << 30
    private static let receiversMask: UInt32 = replacedMark - 1

    /// Whether the fan was too large for one turn.
    enum Walk { case atOnce, inSlices }

    init(
        seq: UInt64, time: Wall, of account: HistoryAccount, _ type: EventType, value: Int32,
        _ cause: Cause, receivers: Int, _ walk: Walk
    ) {
        self.seq = seq
        self.time = time
        self.value = value
        number = account.number
        typeNumber = type.number
        generationAndCause = account.generation & 0x3FF | UInt16(cause.rawValue) << 10
        receiversAndMarks = min(UInt32(clamping: receivers), Self.receiversMask)
        if walk == .inSlices { receiversAndMarks |= Self.largeMark }
    }

    var account: HistoryAccount {
        HistoryAccount(number: number, generation: generationAndCause & 0x3FF)
    }
    var type: EventType { EventType(number: typeNumber) }
    var cause: Cause { Cause(rawValue: UInt8(generationAndCause >> 10)) ?? .sync }
    var receivers: Int { Int(receiversAndMarks & Self.receiversMask) }
    var isLarge: Bool { receiversAndMarks & Self.largeMark != 0 }
    /// It was dropped for newer events of its topic before it was sent to any connection.
    var isReplaced: Bool { receiversAndMarks & Self.replacedMark != 0 }

    mutating func add(receivers count: Int) {
        let sum = min(UInt32(clamping: receivers + count), Self.receiversMask)
        receiversAndMarks = receiversAndMarks & ~Self.receiversMask | sum
    }

    mutating func noteReplaced() { receiversAndMarks |= Self.replacedMark }
}

extension History {
    /// The place of the event with this `seq`, if it is still in the ring. O(log n).
    func place(ofEvent seq: UInt64) -> Int? {
        let place = events.places.partitionPoint { events[$0].seq < seq }
        return place < events.end && events[place].seq == seq ? place : nil
    }

    /// Records that an event was sent to more connections.
    mutating func noteReceivers(_ count: Int, ofEvent seq: UInt64) {
        guard let place = place(ofEvent: seq) else { return }
        events[place].add(receivers: count)
    }

    /// Records that an event will not be sent, since newer ones wait.
    mutating func noteGaveWay(event seq: UInt64) {
        guard let place = place(ofEvent: seq) else { return }
        events[place].noteReplaced()
    }

    /// Since when all events are known.
    var eventsSince: Wall { events.oldestLeft?.time ?? begun }
}
