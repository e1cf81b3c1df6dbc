import NIOCore
import NIOEmbedded
import Synchronization

@testable import PresenceGateway

/// A connection without a socket.
final class FakeConnection: PooledConnection {
    let number: Int
    private let open = Mutex(true)

    init(_ number: Int) {
        self.number = number
    }

    var isOpen: Bool { open.withLock { $0 } }

    func close() { open.withLock { $0 = false } }
}

/// A pool of fake connections, and what requests heard of it, in words that can be compared.
final class FakePool {
    var pool: Pool<FakeConnection>
    /// The outcome of each wait that has ended, by the number of the wait.
    private(set) var outcomes: [Int: String] = [:]
    /// The connection with which a wait ended, and nil for the right to open one.
    private(set) var grants: [Int: FakeConnection?] = [:]
    private let loop = EmbeddedEventLoop()
    private var lastNumber = 0

    init(connectionsMax: Int, waitersMax: Int = 0) {
        var limits = GatewayLimits()
        limits.connectionsMax = connectionsMax
        limits.waitersMax = waitersMax
        pool = Pool(limits)
    }

    func newConnection() -> FakeConnection {
        lastNumber += 1
        return FakeConnection(lastNumber)
    }

    /// Asks for a connection: `take 1`, `open`, `wait 1`, `refused` or `closed`.
    func borrow() -> String {
        switch pool.borrow(on: loop) {
        case .take(let connection): return "take \(connection.number)"
        case .open: return "open"
        case .wait(let number, let future):
            future.assumeIsolated().whenComplete { result in self.end(number, result) }
            return "wait \(number)"
        case .refused: return "refused"
        case .closed: return "closed"
        }
    }

    private func end(_ number: Int, _ result: Result<FakeConnection?, any Error>) {
        precondition(outcomes[number] == nil, "a wait ends once")
        switch result {
        case .success(let connection):
            outcomes[number] = connection.map { "take \($0.number)" } ?? "open"
            grants[number] = connection
        case .failure(let error):
            outcomes[number] = "\(error)"
        }
    }

    /// Gives a connection back; the number of the one that must be closed.
    func giveBack(_ connection: FakeConnection?) -> Int? {
        pool.giveBack(connection)?.number
    }

    func sweep() -> [Int] { pool.sweep().map(\.number) }

    func close() -> [Int] { pool.close().map(\.number) }

    /// `busy idle waiting`.
    var now: [Int] {
        [pool.counters.busy, pool.counters.idle, pool.counters.waiting]
    }

    /// `opened refused`, since the pool was made.
    var totals: [Int] { [pool.counters.opened, pool.counters.refused] }
}
