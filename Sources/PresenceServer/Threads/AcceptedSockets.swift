import Connections
import EventLoop

/// Connected sockets that are handed to a loop.
final class AcceptedSockets: Sendable {
    struct Arrival: Sendable {
        var socket: CInt
        /// The number of the listener that has accepted it.
        var listener: Int
        /// Its network in the connection counts.
        var address: ConnectionsPerNetwork.Entry
    }

    private let arrivals = Guarded<[Arrival]>([])
    private let wakeup: Wakeup

    init(_ wakeup: Wakeup) {
        self.wakeup = wakeup
    }

    /// Leaves a socket for the loop. Any thread.
    func put(_ arrival: Arrival) {
        let isFirst = arrivals.withLock { arrivals in
            arrivals.append(arrival)
            return arrivals.count == 1
        }
        if isFirst { wakeup.wake() }
    }

    /// Takes all of them. The loop's thread.
    func take() -> [Arrival] {
        arrivals.withLock { arrivals in
            defer { arrivals = [] }
            return arrivals
        }
    }
}
