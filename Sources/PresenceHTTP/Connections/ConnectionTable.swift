import Containers

/// A connection that can be in a `ConnectionTable`.
protocol TableConnection: AnyObject {
    var place: ConnectionPlace<Self> { get set }
    /// Closes the connection now. It leaves the table before this returns.
    func closeToMakeRoom()
}

/// Where a connection is in a `ConnectionTable`.
struct ConnectionPlace<Connection: AnyObject> {
    fileprivate var network: ClientNetwork?
    fileprivate var isEntered = false
    fileprivate var isWaiting = false
    fileprivate unowned(safe) var previous: Connection?
    fileprivate unowned(safe) var next: Connection?
}

/// The connections of the API, in the order in which they have been waiting for their clients.
///
/// A connection above a limit, in total or of its network, closes the connection that has been
/// waiting longest: so idle connections do not block other clients, and a probe gets through.
/// Connections with a pending request are not closed. On the event loop only.
///
/// O(1), except for closing a connection of a network, which visits those that wait longer.
struct ConnectionTable<Connection: TableConnection>: ~Copyable {
    private let connectionsMax: Int
    private let perNetworkMax: Int
    private(set) var count = 0
    private var counts: [ClientNetwork: Int] = [:]
    /// The connection that has been waiting longest, and the one that has been waiting shortest.
    private unowned(safe) var first: Connection?
    private unowned(safe) var last: Connection?

    /// An empty table.
    init(connectionsMax: Int, perNetworkMax: Int) {
        self.connectionsMax = connectionsMax
        self.perNetworkMax = perNetworkMax
    }

    /// Adds a connection. Returns the connection that has to be closed for it: the new one itself
    /// if none waits, nil if no limit is exceeded.
    mutating func enter(_ connection: Connection, from network: ClientNetwork?) -> Connection? {
        precondition(!connection.place.isEntered)
        connection.place.isEntered = true
        connection.place.network = network
        count += 1
        if let network { counts[network, default: 0] += 1 }
        beginWaiting(connection)
        if let network, counts[network, default: 0] > perNetworkMax {
            return longestWaiting { $0.place.network == network } ?? connection
        }
        return count > connectionsMax ? longestWaiting { _ in true } ?? connection : nil
    }

    /// Removes a connection that is closed.
    mutating func leave(_ connection: Connection) {
        guard connection.place.isEntered else { return }
        endWaiting(connection)
        precondition(count > 0)
        connection.place.isEntered = false
        count -= 1
        guard let network = connection.place.network, let others = counts[network] else { return }
        counts[network] = others > 1 ? others - 1 : nil
    }

    /// The connection has no pending request any more; its client is expected to send.
    mutating func beginWaiting(_ connection: Connection) {
        guard connection.place.isEntered, !connection.place.isWaiting else { return }
        connection.place.isWaiting = true
        connection.place.previous = last
        connection.place.next = nil
        if let last { last.place.next = connection } else { first = connection }
        last = connection
    }

    /// The connection has a pending request.
    mutating func endWaiting(_ connection: Connection) {
        guard connection.place.isWaiting else { return }
        connection.place.isWaiting = false
        let (previous, next) = (connection.place.previous, connection.place.next)
        if let previous { previous.place.next = next } else { first = next }
        if let next { next.place.previous = previous } else { last = previous }
        connection.place.previous = nil
        connection.place.next = nil
    }

    private func longestWaiting(_ matches: (Connection) -> Bool) -> Connection? {
        var candidate = first
        while let connection = candidate {
            if matches(connection) { return connection }
            candidate = connection.place.next
        }
        return nil
    }
}
