// Fan-outs too large for one turn.
//
// A publisher with a hundred thousand watchers must not hold up the others, so the walk
// through a large fan is cut into slices, and other work goes in between. Topics take turns;
// the events of a topic follow each other: the second's walk begins when the first's has
// ended, so that every receiver gets them in order.
//
// Meanwhile somebody may be sent the topic's state (he subscribes, logs in, or catches up).
// That state holds what has happened, so the events that are older than it must not reach him
// any more: `told` remembers whom, and up to which `seq`, for as long as the topic is being
// walked. The walk itself survives leavers, see `SubscriptionIndex.leave`.

/// An event whose bytes the caller keeps until all its receivers have been told.
public struct FanOutID: Hashable, Sendable {
    /// The event's `seq`.
    public let seq: UInt64

    /// The fan-out of the event with this `seq`.
    public init(seq: UInt64) {
        self.seq = seq
    }
}

/// The large fan-outs that are under way.
struct FanOuts {
    /// Events of a topic that wait for their walk at most; beyond, the older give way.
    static let waitingMax = 64

    /// One topic's.
    struct Walk {
        /// The events, the one that is being walked first.
        var events: [UInt64]
        /// Sessions that know the topic's state, and which.
        var told: [UInt32: UInt64] = [:]
    }

    /// By topic.
    private(set) var walks: [UInt32: Walk] = [:]
    /// The topics in the order of their turns.
    private(set) var turns: [UInt32] = []

    var isEmpty: Bool { turns.isEmpty }

    func isWalking(_ topic: TopicHandle) -> Bool {
        !turns.isEmpty && walks[topic.index] != nil
    }

    /// Adds an event. Tells which one gives way, where too many wait, and whether it is the first.
    mutating func add(_ seq: UInt64, of topic: TopicHandle) -> (dropped: UInt64?, isFirst: Bool) {
        guard var walk = walks[topic.index] else {
            walks[topic.index] = Walk(events: [seq])
            turns.append(topic.index)
            return (nil, true)
        }
        var dropped: UInt64?
        if walk.events.count > Self.waitingMax { dropped = walk.events.remove(at: 1) }
        walk.events.append(seq)
        walks[topic.index] = walk
        return (dropped, false)
    }

    /// Notes that a session has been sent the state of a topic.
    mutating func note(_ session: UInt32, knows topic: TopicHandle, upTo seq: UInt64) {
        guard !turns.isEmpty else { return }
        walks[topic.index]?.told[session] = seq
    }

    /// Whether a session may still be sent an event of a topic.
    func isNews(_ seq: UInt64, of topic: UInt32, to session: UInt32) -> Bool {
        (walks[topic]?.told[session] ?? 0) < seq
    }

    /// Lets the next topic have its turn after this one's.
    mutating func rotate() {
        turns.append(turns.removeFirst())
    }

    /// Ends the walk of the first event of the topic whose turn it is; whether another follows.
    mutating func endWalk() -> Bool {
        let topic = turns[0]
        walks[topic]?.events.removeFirst()
        guard walks[topic]?.events.isEmpty != false else { return true }
        walks[topic] = nil
        turns.removeFirst()
        return false
    }
}
