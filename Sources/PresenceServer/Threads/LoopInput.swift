import Containers
import PresenceCore

/// What the connection loops have handed over and the engine host has not taken in yet.
///
/// It is taken from the boxes only when everything taken before has been taken in: so the time up
/// to which input has been taken in is known, and advances under load, too. The engine's deadlines
/// fire only if they were due by then: a device may have returned in time, and its login wait here.
struct LoopInput {
    /// A turn of a loop, and the index of the item to continue with.
    typealias Rest = (inbound: Inbound, first: Int)

    /// By loop, in order.
    private var waiting: [Queue<Inbound>]
    /// What is left of a turn that was taken in in part. It comes before everything that waits.
    private var interrupted: Rest?
    /// When it was taken from the boxes.
    private var takenAt: Mono
    /// The loop whose turn it is.
    private var place = 0

    init(loops count: Int, at now: Mono) {
        waiting = Array(repeating: Queue(), count: count)
        takenAt = now
    }

    /// Whether everything has been taken in that was in the boxes when they were last emptied.
    ///
    /// Not by a key path: that would be looked up for each loop, four times in a turn.
    var isEmpty: Bool { interrupted == nil && waiting.allSatisfy { $0.isEmpty } }

    /// Up to when everything has been taken in; nil: not everything has, so the time is that of
    /// before.
    var heardUpTo: Mono? { isEmpty ? takenAt : nil }

    /// Takes what is in the boxes, when everything before has been taken in.
    mutating func fill(from boxes: [LinkBox], at now: Mono) {
        precondition(isEmpty, "input of a loop out of order")
        takenAt = now
        for (index, box) in boxes.enumerated() { waiting[index] = Queue(box.takeInbound()) }
    }

    /// Puts back what is left of the turn that was returned last.
    mutating func putBack(_ rest: Rest) { interrupted = rest }

    /// What is left of a turn, or the next turn, of one loop after the other.
    mutating func next() -> Rest? {
        if let rest = interrupted.take() { return rest }
        for _ in waiting.indices {
            defer { place = (place + 1) % waiting.count }
            if let inbound = waiting[place].popFirst() { return (inbound, first: 0) }
        }
        return nil
    }
}
