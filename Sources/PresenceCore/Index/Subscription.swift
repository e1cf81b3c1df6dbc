/// One subscription in the list of its subscriber: 20 bytes.
///
/// Times have 48 bits each (8,900 years of milliseconds): an expiry is exact to the millisecond,
/// for four bytes more than coarser 32-bit times.
struct Subscription {
    /// The topic.
    var topic: UInt32
    /// The position of the subscriber in the topic's fan.
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

    /// When the subscription expires.
    var deadline: Mono {
        get { Mono(milliseconds: UInt64(deadlineHigh) << 32 | UInt64(deadlineLow)) }
        set {
            deadlineLow = UInt32(truncatingIfNeeded: newValue.milliseconds)
            deadlineHigh = UInt16(truncatingIfNeeded: newValue.milliseconds >> 32)
        }
    }

    /// When it was created.
    var created: Wall {
        Wall(milliseconds: Int64(UInt64(createdHigh) << 32 | UInt64(createdLow)))
    }
}
