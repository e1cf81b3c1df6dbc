import EventLoop

/// Connected sockets that are handed to a loop.
final class Intake: Sendable {
    enum Arrival: Sendable {
        /// A client's, and its address in the census.
        case client(CInt, address: AddressBook.Entry)
        /// The service's end of an internal connection.
        case fromProcess(CInt)

        var socket: CInt {
            switch self {
            case .client(let socket, _), .fromProcess(let socket): socket
            }
        }
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
