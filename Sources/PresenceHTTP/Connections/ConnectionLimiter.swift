import Containers
import NIOCore

/// The API's connections, on their event loop.
final class ConnectionLimiter: Sendable {
    private final class Box {
        var open: OpenConnections<HTTPConnection>
        var places: RequestPlaces
        /// Requests that are being carried out.
        var taskCount = 0
        var whenDrained: EventLoopPromise<Void>?
        /// Connections with further requests, in the order of their turns.
        var awaitingTurn: [HTTPConnection] = []
        var isTurnScheduled = false

        init(_ limits: HTTPLimits) {
            open = OpenConnections(
                connectionsMax: limits.connectionsMax,
                perNetworkMax: limits.connectionsPerAddressMax)
            places = RequestPlaces(placesMax: limits.connectionsMax)
        }

        func drainIfDone() {
            guard taskCount == 0, let promise = whenDrained else { return }
            whenDrained = nil
            promise.succeed()
        }
    }

    /// The requests that all connections begin in one turn, if each begins one, and otherwise.
    private static let requestsPerTurnMax = 32, requestsOfFewMax = 8

    private let box: NIOLoopBoundBox<Box>
    private let loop: any EventLoop

    init(_ limits: HTTPLimits, on loop: any EventLoop) {
        self.loop = loop
        box = NIOLoopBoundBox.makeBoxSendingValue(Box(limits), eventLoop: loop)
    }

    /// Adds a connection, and closes one if that exceeds a limit.
    func enter(_ connection: HTTPConnection, from address: SocketAddress?) {
        let network = address?.clientNetwork
        connection.slot = box.value.open.enter(connection, from: network)
        box.value.open.excess(from: network)?.closeToMakeRoom()
    }

    func leave(_ connection: HTTPConnection) {
        guard let slot = connection.slot else { return }
        connection.slot = nil
        box.value.open.leave(slot)
    }

    func beginWaiting(_ connection: HTTPConnection) {
        if let slot = connection.slot { box.value.open.beginWaiting(slot) }
    }

    func endWaiting(_ connection: HTTPConnection) {
        if let slot = connection.slot { box.value.open.endWaiting(slot) }
    }

    /// Has a request of this party hold its connection. Returns whether it may.
    func takePlace(_ party: RequestParty) -> Bool { box.value.places.take(party) }

    func giveBackPlace(_ party: RequestParty) { box.value.places.giveBack(party) }

    func beginTask() { box.value.taskCount += 1 }

    func endTask() {
        precondition(box.value.taskCount > 0, "a task ends that has not begun")
        box.value.taskCount -= 1
        box.value.drainIfDone()
    }

    // MARK: - Turns

    /// Has a connection continue with further requests when it is its turn.
    ///
    /// NIO polls sockets only when no task and no timer is due. So the time until the next turn is
    /// counted from the end of the tasks of this one; in between, every other connection is read.
    func awaitTurn(_ connection: HTTPConnection) {
        box.value.awaitingTurn.append(connection)
        scheduleTurn()
    }

    private func scheduleTurn() {
        guard !box.value.isTurnScheduled, !box.value.awaitingTurn.isEmpty else { return }
        box.value.isTurnScheduled = true
        loop.scheduleTask(in: .milliseconds(1)) { [self] in takeTurns() }
    }

    private func takeTurns() {
        let count = min(box.value.awaitingTurn.count, Self.requestsPerTurnMax)
        let connections = box.value.awaitingTurn.prefix(count)
        box.value.awaitingTurn.removeFirst(count)
        let share = max(1, Self.requestsOfFewMax / max(1, count))
        for connection in connections { connection.takeTurn(share) }
        loop.execute { [self] in
            box.value.isTurnScheduled = false
            scheduleTurn()
        }
    }

    // MARK: - The end

    /// Closes all connections. The promise succeeds when no request is being carried out.
    func closeAll(_ promise: EventLoopPromise<Void>) {
        for connection in box.value.open.all { connection.close() }
        box.value.whenDrained = promise
        box.value.drainIfDone()
    }
}

extension SocketAddress {
    /// The network that limits per address count.
    var clientNetwork: ClientNetwork? {
        let place: Range<Int>
        switch self {
        case .v4: place = 4..<8
        case .v6: place = 8..<24
        case .unixDomainSocket: return nil
        }
        return unsafe withSockAddr { address, byteCount in
            let bytes = unsafe UnsafeRawBufferPointer(start: address, count: byteCount)
            return ClientNetwork(address: unsafe Array(bytes[place]))
        }
    }
}
