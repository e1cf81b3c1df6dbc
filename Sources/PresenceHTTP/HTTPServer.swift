import NIOCore
import NIOPosix
public import PresenceGateway
public import TLSSessions
import TaskLoops

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
    private let connections: ConnectionLimiter
    private let idleSeconds: NIOLoopBoundBox<Int>
    private let loop: any EventLoop

    /// Starts it, and waits until it listens. The service behind `service` need not be serving yet.
    /// Not to be called on an event loop.
    public init(
        _ configuration: HTTPConfiguration, to service: ServiceReference
    ) throws(HTTPStartError) {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        loop = group.next()
        gateway = Gateway(on: loop, to: service)
        certificates = configuration.secure.map { HTTPCertificates($0.context) }
        let api = API(
            gateway: gateway, access: configuration.access, limits: configuration.limits,
            counters: HTTPCounters(), readiness: Readiness(),
            date: DateField(configuration.wallMilliseconds),
            console: configuration.servesConsole ? .console : nil,
            version: configuration.version, story: configuration.story,
            certificates: certificates, isResponsive: configuration.isResponsive)
        let shared = HTTPConnection.Shared(api, on: loop)
        connections = shared.connections
        idleSeconds = shared.idleSeconds
        let tls = certificates.map { [loop] in
            TLSHandlers($0, api.limits, api.counters, on: loop)
        }
        plain =
            if let place = configuration.plain {
                try HTTPListener(place, isSecure: false, on: group) { channel in
                    try channel.addHandlers(tls: nil, shared)
                }
            } else {
                nil
            }
        do throws(HTTPStartError) {
            secure =
                if let place = configuration.secure?.place {
                    try HTTPListener(place, isSecure: true, on: group) { channel in
                        try channel.addHandlers(tls: tls, shared)
                    }
                } else {
                    nil
                }
        } catch {
            plain?.stop()
            gateway.close()
            throw error
        }
    }

    /// Serves new connections over TLS with other certificates; open ones continue.
    public func replaceCertificates(with context: TLSContext) {
        certificates?.replace(with: context)
    }

    /// Closes connections that have been without a request for this time from now on; an open one
    /// keeps the deadline that it has until its next request. Thread-safe.
    public func setIdleSeconds(_ seconds: Int) {
        loop.execute { [idleSeconds] in idleSeconds.value = seconds }
    }

    /// Closes every connection, and waits for the end. Not to be called on an event loop.
    ///
    /// The thread itself stays, for the moment that the process still has: a loop that has been
    /// shut down rejects the last piece of a task, and says so on standard error.
    public func stop() {
        plain?.stop()
        secure?.stop()
        let isDrained = loop.makePromise(of: Void.self)
        loop.execute { [connections] in connections.closeAll(isDrained) }
        gateway.close()
        try? isDrained.futureResult.wait()
        try? loop.submit {}.wait()
    }
}

extension Channel {
    /// Adds what makes it a connection to the API, with or without TLS.
    fileprivate func addHandlers(
        tls: TLSHandlers?, _ shared: HTTPConnection.Shared
    ) throws {
        let pipeline = pipeline.syncOperations
        if let tls { try pipeline.addHandler(tls.make()) }
        try pipeline.addHandler(NativeProtocolHandler())
        try pipeline.addHandler(HTTPConnection(shared))
    }
}
