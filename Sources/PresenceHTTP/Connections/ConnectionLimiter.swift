import Containers
import NIOCore

/// The table of the API's connections, on their event loop.
final class ConnectionLimiter: Sendable {
    private final class Box {
        var table: ConnectionTable<ConnectionGuard>

        init(_ limits: HTTPLimits) {
            table = ConnectionTable(
                connectionsMax: limits.connectionsMax,
                perNetworkMax: limits.connectionsPerAddressMax)
        }
    }

    private let box: NIOLoopBoundBox<Box>

    init(_ limits: HTTPLimits, on loop: any EventLoop) {
        box = NIOLoopBoundBox.makeBoxSendingValue(Box(limits), eventLoop: loop)
    }

    /// Adds a connection, and closes one if that exceeds a limit.
    func enter(_ connection: ConnectionGuard, from address: SocketAddress?) {
        box.value.table.enter(connection, from: address?.clientNetwork)?.closeToMakeRoom()
    }

    func leave(_ connection: ConnectionGuard) { box.value.table.leave(connection) }
    func beginWaiting(_ connection: ConnectionGuard) { box.value.table.beginWaiting(connection) }
    func endWaiting(_ connection: ConnectionGuard) { box.value.table.endWaiting(connection) }
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
