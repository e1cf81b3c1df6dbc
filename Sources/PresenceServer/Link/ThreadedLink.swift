import Connections
import PresenceCore

/// The engine host is on another thread, behind a box.
///
/// The loop's input is kept until it has read what had arrived, and is then handed over at once: so
/// the engine works while the loop writes, and is woken twice per turn at most. The output arrives
/// by `ConnectionLoop.take`.
struct ThreadedLink: EngineLink {
    static let reusesOutput = false

    private let box: LinkBox
    private var held = Inbound()

    init(_ box: LinkBox) {
        self.box = box
    }

    mutating func exchange(
        _ inbound: inout Inbound, into outbound: inout Outbound, at now: Moment
    ) -> Int {
        if held.isEmpty {
            swap(&held, &inbound)
        } else {
            held.append(contentsOf: inbound)
        }
        inbound.removeAll()
        return 0
    }

    mutating func advance(to now: Moment, heardUpTo: Mono, into outbound: inout Outbound) {
        box.hand(&held)
    }

    mutating func endTurn(
        at now: Moment, _ progress: WriteProgress, into outbound: inout Outbound
    ) {
        box.hand(&held)
        box.release(progress)
    }

    /// The engine host has a timer of its own.
    func nextDeadline(at now: Moment) -> Mono? { nil }
}
