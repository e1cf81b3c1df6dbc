/// One subscription as its subscriber keeps it: 20 bytes.
///
/// Times take 48 bits each (8,900 years of milliseconds), so that an expiry is exact to
/// the millisecond at the price of a coarser 32-bit one plus four bytes.
struct Edge {
    /// What is watched.
    var topic: UInt32
    /// Where the subscriber stands in the topic's fan.
    var position: UInt32
    private var deadlineLow: UInt32
    private var createdLow: UInt32
    private var deadlineHigh: UInt16
    private var createdHigh: UInt16

    init(topic: UInt32, position: UInt32, created: Wall, deadline: Mono) {
        self.topic = topic
        self.position = position
        let created = UInt64(clamping: created.milliseconds)
        createdLow = UInt32(truncatingIfNeeded: created)
        createdHigh = UInt16(truncatingIfNeeded: created >> 32)
        deadlineLow = UInt32(truncatingIfNeeded: deadline.milliseconds)
        deadlineHigh = UInt16(truncatingIfNeeded: deadline.milliseconds >> 32)
    }

    /// When the subscription runs out.
    var deadline: Mono {
        get { Mono(milliseconds: UInt64(deadlineHigh) << 32 | UInt64(deadlineLow)) }
        set {
            deadlineLow = UInt32(truncatingIfNeeded: newValue.milliseconds)
            deadlineHigh = UInt16(truncatingIfNeeded: newValue.milliseconds >> 32)
        }
    }

    /// When it was first made.
    var created: Wall {
        Wall(milliseconds: Int64(UInt64(createdHigh) << 32 | UInt64(createdLow)))
    }
}
