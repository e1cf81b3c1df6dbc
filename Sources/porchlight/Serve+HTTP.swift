// The HTTP API beside the service.
//
// It listens before the service exists, so that an address that is in use ends the start before the
// database is opened, and probes get "not ready" while the database is loaded.

import CommandSupport
import EventLoop
import PresenceClient
import PresenceCore
import PresenceGateway
import PresenceHTTP
import PresenceServer
import PresenceTokens
import TLSSessions

extension ServiceSettings {
    /// Starts the API, if it is wanted.
    func startHTTP(
        _ keys: KeyRing, _ certificates: TLSContext?, _ watchdog: Watchdog,
        _ service: ServiceReference
    ) throws -> HTTPServer? {
        guard startup.servesHTTP else { return nil }
        // With open authentication this machine needs no key here either; other machines do.
        var settings = HTTPConfiguration(
            access: startup.auth == .open ? .keysOrLocal(keys) : .keys(keys),
            wallMilliseconds: { Loop.wallMilliseconds() })
        settings.version = programVersion
        settings.story = { facts in WhyText(try JSON(parsing: facts)).lines }
        settings.servesConsole = startup.servesConsole
        settings.isResponsive = { watchdog.isResponsive }
        settings.plain = startup.http.map(Self.httpPlace)
        if let address = startup.tls.http, let certificates {
            settings.secure = (Self.httpPlace(address), certificates)
        }
        let budget = DescriptorBudget(self)
        settings.limits.connectionsMax = budget.httpConnectionsMax
        settings.limits.idleSeconds = live.httpIdleSeconds
        settings.limits.feedReadersMax = min(
            budget.feedReadersMax, configuration.feed.readersMax)
        do throws(HTTPStartError) {
            return try HTTPServer(settings, to: service)
        } catch {
            guard let number = error.errorNumber else { throw CommandError(error.description) }
            // In the words of the native port.
            let cause = UVError(code: -number, operation: "bind")
            let (address, flag) =
                error.isSecure ? (startup.tls.http, "--http-tls") : (startup.http, "--http")
            try failToListen(
                "Cannot listen on \(address ?? "") (\(cause)); choose another address or port with "
                    + "\(flag).", cause, flag)
        }
    }

    private static func httpPlace(_ text: String) -> HTTPPlace {
        let address = numericAddress(text)
        return HTTPPlace(host: address.host, port: Int(address.port))
    }
}

extension HTTPServer {
    /// Applies what a reload may change. Open connections keep what they have.
    func apply(_ settings: LiveSettings, _ certificates: TLSContext?) {
        setIdleSeconds(settings.httpIdleSeconds)
        if let certificates { replaceCertificates(with: certificates) }
    }
}
