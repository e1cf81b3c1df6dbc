import HummingbirdCore
public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
public import PresenceGateway
public import TLSSessions

/// Why the API could not be started, in one sentence.
public struct HTTPStartError: Error, CustomStringConvertible {
    /// The system's error number; nil if the system was not the cause.
    public let errorNumber: CInt?
    /// Whether it is about the address for TLS.
    public let isSecure: Bool
    /// The sentence.
    public let description: String
}

/// The HTTP API, on a thread of its own.
public final class HTTPServer: Sendable {
    /// Where it listens without TLS, with the port really bound.
    public var address: String? { plain?.address }
    /// Where it listens for TLS.
    public var tlsAddress: String? { secure?.address }

    private let plain: HTTPListener?
    private let secure: HTTPListener?
    private let certificates: HTTPCertificates?
    private let gateway: Gateway

    /// Starts it, and waits until it listens. The service behind `door` need not be serving yet.
    /// Not to be called on an event loop.
    public init(
        _ configuration: HTTPConfiguration, to door: ServiceDoor, logger: Logger
    ) throws(HTTPStartError) {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let gateway = Gateway(on: group.next(), configuration.gateway, to: door)
        let certificates = configuration.secure.map { HTTPCertificates($0.context) }
        let setup = HTTPSetup(configuration, gateway, certificates, on: group.next())
        var logger = logger
        // Hummingbird logs every start and end, which the service logs itself.
        logger.logLevel = max(logger.logLevel, .warning)
        var plain: HTTPListener?
        do throws(HTTPStartError) {
            if let place = configuration.plain {
                plain = try HTTPListener(place, setup.plain, on: group, logger: logger)
            }
            secure =
                if let place = configuration.secure?.place {
                    try HTTPListener(place, setup.secure, on: group, logger: logger)
                } else {
                    nil
                }
        } catch {
            plain?.stop()
            gateway.close()
            plain?.end()
            throw error
        }
        self.plain = plain
        self.certificates = certificates
        self.gateway = gateway
    }

    /// Serves new connections over TLS with other certificates; open ones continue.
    public func replaceCertificates(with context: TLSContext) {
        certificates?.replace(with: context)
    }

    /// Closes every connection, and waits for the end. Not to be called on an event loop.
    public func stop() {
        plain?.stop()
        secure?.stop()
        gateway.close()
        plain?.end()
        secure?.end()
    }
}

/// How connections are set up, with what all of them share.
private struct HTTPSetup {
    let plain: HTTPChannel
    let secure: HTTPChannel

    init(
        _ configuration: HTTPConfiguration, _ gateway: Gateway, _ certificates: HTTPCertificates?,
        on loop: any EventLoop
    ) {
        let limits = configuration.limits
        let counters = HTTPCounters()
        let api = API(
            gateway: gateway, access: configuration.access, limits: limits, counters: counters,
            readiness: Readiness(), date: DateField(configuration.wallMilliseconds),
            certificates: certificates)
        let connections = ConnectionLimiter(limits, on: loop)
        let base = HTTP1Channel(
            responder: { request, writer, channel in
                let response = try await api.respond(to: request, over: channel)
                do {
                    try await writer.write(response: response.head, body: response.body)
                } catch is HTTPParserError {
                    // A body that is no HTTP: half a response cannot become another one.
                    throw ChannelError.inputClosed
                }
            },
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [
                    NativeProtocolInstaller(), ConnectionGuard(limits, counters, connections),
                ],
                idleTimeout: .seconds(Int64(limits.idleSeconds)),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: limits.headerBytesMax,
                    maxHeaderListSize: limits.headerBytesMax, maxHeaderFieldCount: 100)))
        plain = HTTPChannel(base: base, tls: nil)
        let handlers = certificates.map { TLSHandlers($0, limits, counters, on: loop) }
        secure = HTTPChannel(base: base, tls: handlers)
    }
}
