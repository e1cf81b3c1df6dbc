import Containers
import NIOCore

/// The API's connections, on their event loop.
final class ConnectionLimiter: Sendable {
    private final class Box {
        var table: ConnectionTable<HTTPConnection>
        var open: [ObjectIdentifier: HTTPConnection] = [:]
        /// Requests that are being carried out.
        var taskCount = 0
        var whenDrained: EventLoopPromise<Void>?

        init(_ limits: HTTPLimits) {
            table = ConnectionTable(
                connectionsMax: limits.connectionsMax,
                perNetworkMax: limits.connectionsPerAddressMax)
        }

        func drainIfDone() {
            guard taskCount == 0, let promise = whenDrained else { return }
            whenDrained = nil
            promise.succeed()
        }
    }

    private let box: NIOLoopBoundBox<Box>

    init(_ limits: HTTPLimits, on loop: any EventLoop) {
        box = NIOLoopBoundBox.makeBoxSendingValue(Box(limits), eventLoop: loop)
    }

    /// Adds a connection, and closes one if that exceeds a limit.
    func enter(_ connection: HTTPConnection, from address: SocketAddress?) {
        box.value.open[ObjectIdentifier(connection)] = connection
        box.value.table.enter(connection, from: address?.clientNetwork)?.closeToMakeRoom()
    }

    func leave(_ connection: HTTPConnection) {
        box.value.open[ObjectIdentifier(connection)] = nil
        box.value.table.leave(connection)
    }

    func beginWaiting(_ connection: HTTPConnection) { box.value.table.beginWaiting(connection) }
    func endWaiting(_ connection: HTTPConnection) { box.value.table.endWaiting(connection) }

    func beginTask() { box.value.taskCount += 1 }

    func endTask() {
        box.value.taskCount -= 1
        box.value.drainIfDone()
    }

    /// Closes all connections. The promise succeeds when no request is being carried out.
    func closeAll(_ promise: EventLoopPromise<Void>) {
        for connection in Array(box.value.open.values) { connection.close() }
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
