import Connections
import EventLoop
import PresenceCore

/// Connected sockets that are handed to a loop.
final class Intake: Sendable {
    struct Arrival: Sendable {
        var socket: CInt
        /// The number of the listener that has accepted it.
        var listener: Int
        /// Its address in the census.
        var address: AddressBook.Entry
    }

    private struct State {
        var arrivals: [Arrival] = []
        /// When the first one came that the loop has not taken; nil: it has taken all.
        var since: Mono?
    }

    /// A loop that has adopted nothing for this time is given no more connections.
    static let overdueMilliseconds: UInt64 = 500

    private let state = Guarded(State())
    private let wakeup: Wakeup

    init(_ wakeup: Wakeup) {
        self.wakeup = wakeup
    }

    /// Leaves a socket for the loop. Any thread.
    func put(_ arrival: Arrival, at now: Mono) {
        let isFirst = state.withLock { state in
            state.since = state.since ?? now
            state.arrivals.append(arrival)
            return state.arrivals.count == 1
        }
        if isFirst { wakeup.wake() }
    }

    /// Takes all of them. The loop's thread.
    func take() -> [Arrival] {
        state.withLock { state in
            defer { state = State() }
            return state.arrivals
        }
    }

    /// Takes them back. The loop stays overdue until it takes what there is. Any thread.
    func takeBack() -> [Arrival] {
        state.withLock { state in
            defer { state.arrivals = [] }
            return state.arrivals
        }
    }

    /// Whether the loop has taken nothing for a while, although there was something. Any thread.
    func isOverdue(at now: Mono) -> Bool {
        guard let since = state.withLock({ $0.since }) else { return false }
        return since.advanced(byMilliseconds: Self.overdueMilliseconds) <= now
    }
}
