// Fan-outs too large for one turn.
//
// A publisher with a hundred thousand subscribers must not delay others, so the walk through a
// large fan is cut into slices, and other work runs in between. Topics take turns. The events of a
// topic follow each other: the walk of the second begins when that of the first has ended, so that
// every receiver gets them in order.
//
// Meanwhile a session may be sent the topic's state (it subscribes, logs in, or catches up). That
// state includes what has happened, so the session must not receive older events afterwards: `sent`
// records the session and the `seq` of the state, for as long as the topic is being walked. The
// walk itself tolerates removals, see `SubscriptionIndex.leave`.

/// An event whose bytes the caller keeps until it was sent to all its receivers.
public struct FanOutID: Hashable, Sendable {
    /// The event's `seq`.
    public let seq: UInt64
}

/// The large fan-outs in progress.
struct FanOuts {
    /// Events of a topic that may wait for their walk; beyond, the oldest are dropped.
    static let waitingMax = 64

    /// An event that waits for its walk, or is being walked.
    struct Waiting {
        let seq: UInt64
        /// The subscribers that it is for.
        let viewers: Viewers
        /// Whether it ends their sight of the publisher: it is not dropped for newer events, which
        /// they are not sent.
        let isOfHiding: Bool
        /// What it ends for clients that are sent the end of each device: newer events do not. An
        /// account has few: its logins are rate-limited. Kept here, since the walk may take longer
        /// than `EndedPresenceLog` keeps it.
        let ends: ArraySlice<EndedPresenceLog.Entry>
    }

    /// The fan-outs of one topic.
    struct Walk {
        /// The events; the first of them is being walked.
        var events: [Waiting]
        /// Sessions that were sent the topic's state, and its `seq`.
        var sent: [UInt32: UInt64] = [:]

        /// The event that is dropped for another one, if too many wait: the oldest whose news is in
        /// newer ones. Where there are many that have news of their own, also one of those: at last
        /// one by which subscribers lose sight, because they receive no other.
        fileprivate var placeToDrop: Int? {
            guard events.count > waitingMax else { return nil }
            let waiting = events.dropFirst()
            if let place = waiting.firstIndex(where: { !$0.isOfHiding && $0.ends.isEmpty }) {
                return place
            }
            guard events.count > 4 * waitingMax else { return nil }
            return waiting.firstIndex { !$0.isOfHiding } ?? waiting.startIndex
        }
    }

    /// By topic.
    private(set) var walks: [UInt32: Walk] = [:]
    /// The topics in the order of their turns.
    private(set) var turns: [UInt32] = []

    var isEmpty: Bool { turns.isEmpty }

    func isWalking(_ topic: TopicHandle) -> Bool {
        !turns.isEmpty && walks[topic.index] != nil
    }

    /// An event of a topic that waits, or is being walked. O(events of the topic).
    func event(_ seq: UInt64, of topic: TopicHandle) -> Waiting? {
        guard !turns.isEmpty else { return nil }
        return walks[topic.index]?.events.first { $0.seq == seq }
    }

    /// Adds an event. Returns which one is dropped, if too many wait, and whether it is the first.
    mutating func add(
        _ event: Waiting, of topic: TopicHandle
    ) -> (dropped: UInt64?, isFirst: Bool) {
        guard var walk = walks[topic.index] else {
            walks[topic.index] = Walk(events: [event])
            turns.append(topic.index)
            return (nil, true)
        }
        let dropped = walk.placeToDrop.map { walk.events.remove(at: $0).seq }
        walk.events.append(event)
        walks[topic.index] = walk
        return (dropped, false)
    }

    /// Notes that a session has been sent the state of a topic.
    mutating func note(_ session: UInt32, knows topic: TopicHandle, upTo seq: UInt64) {
        guard !turns.isEmpty else { return }
        walks[topic.index]?.sent[session] = seq
    }

    /// Whether a session may still be sent an event of a topic.
    func isNews(_ seq: UInt64, of topic: UInt32, to session: UInt32) -> Bool {
        (walks[topic]?.sent[session] ?? 0) < seq
    }

    /// Ends the turn of the first topic; the next one follows.
    mutating func rotate() {
        precondition(!turns.isEmpty, "a turn of no topic")
        turns.append(turns.removeFirst())
    }

    /// Ends the walk of the first event of the topic whose turn it is; returns whether another
    /// follows.
    mutating func endWalk() -> Bool {
        precondition(!turns.isEmpty, "no walk")
        let topic = turns[0]
        walks[topic]?.events.removeFirst()
        guard walks[topic]?.events.isEmpty != false else { return true }
        walks[topic] = nil
        turns.removeFirst()
        return false
    }
}
