// The HTTP API beside the service.
//
// It listens before the service exists, so that an address that is in use ends the start before
// the database is opened, and probes hear "not ready" while the database is loaded.

import EventLoop
import Logging
import PresenceCore
import PresenceGateway
import PresenceHTTP
import PresenceServer
import PresenceTokens
import Synchronization

/// Connects to a service that may not exist yet.
final class ServiceDoor: Sendable {
    private let control = Mutex<ServiceControl?>(nil)

    /// Names the service, from now on.
    func open(to control: ServiceControl) {
        self.control.withLock { $0 = control }
    }

    /// A connection to the service from within this process.
    func connect() throws(ServiceError) -> CInt {
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
            preconditionFailure("an address that was not checked")
        }
        if address.host == "localhost" { address.host = "127.0.0.1" }
        // With open authentication this machine needs no key here either; other machines do.
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
        do throws(HTTPStartError) {
            return try HTTPServer(
                settings, logger: Logger(label: "porchlight.http"),
                connect: { try door.connect() })
        } catch {
            guard let number = error.errorNumber else { throw CommandError(error.description) }
            // In the words of the native port.
            let cause = UVError(code: -number, operation: "bind")
            throw CommandError(
                "Cannot listen on \(http) (\(cause)); choose another address or port with --http.")
        }
    }
}
