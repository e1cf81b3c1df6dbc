// The HTTP API beside the service.
//
// It listens before the service exists, so that an address that is in use ends the start before
// the database is opened, and probes hear "not ready" while the database is loaded.

import EventLoop
import Logging
import PresenceCore
import PresenceGateway
import PresenceHTTP
import PresenceTokens

extension ServiceSettings {
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
        do throws(HTTPStartError) {
            return try HTTPServer(
                settings, to: door, logger: Logger(label: "porchlight.http"))
        } catch {
            guard let number = error.errorNumber else { throw CommandError(error.description) }
            // In the words of the native port.
            let cause = UVError(code: -number, operation: "bind")
            throw CommandError(
                "Cannot listen on \(http) (\(cause)); choose another address or port with --http.")
        }
    }
}
