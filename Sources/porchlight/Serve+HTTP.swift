// The HTTP API beside the service.
//
// It listens before there is a service, so that an address that cannot be had ends a start before
// a database is opened, and a probe is told that the service is not ready while it is loaded.

import EventLoop
import Logging
import PresenceCore
import PresenceGateway
import PresenceHTTP
import PresenceServer
import PresenceTokens
import Synchronization

/// The way to a service that may not be there yet.
final class ServiceDoor: Sendable {
    private let control = Mutex<ServiceControl?>(nil)

    /// From now on there is a service.
    func open(to control: ServiceControl) {
        self.control.withLock { $0 = control }
    }

    /// A connection to the service, for whoever works for it in this process.
    func connect() throws(ServiceRefusal) -> CInt {
        guard let control = control.withLock({ $0 }) else { throw .ended }
        return try control.connect()
    }
}

extension ServiceSettings {
    /// What connections of this process to the service go by: HTTP's and the webhooks'.
    var gatewayLimits: GatewayLimits {
        var gateway = GatewayLimits()
        gateway.fit(heartbeatSeconds: configuration.engine.heartbeatSeconds)
        let limits = configuration.engine.limits
        gateway.connection.requestBytesMax = limits.frameBytesMax
        gateway.connection.frameBytesMax = limits.serverFrameBytesMax
        return gateway
    }

    /// Starts the API, if it is wanted.
    func startHTTP(_ keys: KeyRing, _ door: ServiceDoor) throws -> HTTPServer? {
        guard let http else { return nil }
        guard var address = parseAddress(http) else {
            preconditionFailure("an address that was not looked at")
        }
        if address.host == "localhost" { address.host = "127.0.0.1" }
        // Whoever may log in as anybody may do this, too, and nobody else without a key.
        var settings = HTTPConfiguration(
            access: auth == .open ? .keysOrLocal(keys) : .keys(keys),
            wallMilliseconds: { Loop.wallMilliseconds() })
        settings.host = address.host
        settings.port = Int(address.port)
        let budget = DescriptorBudget(self)
        settings.limits.connectionsMax = budget.httpConnectionsMax
        settings.limits.feedReadersMax = budget.feedReadersMax
        settings.gateway = gatewayLimits
        settings.gateway.connectionsMax = budget.gatewayConnectionsMax
        do throws(HTTPRefusal) {
            return try HTTPServer(
                settings, logger: Logger(label: "porchlight.http"),
                connect: { try door.connect() })
        } catch {
            throw Failure(error.description)
        }
    }
}
