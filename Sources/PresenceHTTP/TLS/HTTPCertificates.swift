import NIOCore
import Synchronization
import TLSSessions

/// The certificates of the API: new connections take the current ones, and keep them.
final class HTTPCertificates: Sendable {
    private let current: Mutex<TLSContext>

    init(_ context: TLSContext) {
        current = Mutex(context)
    }

    var context: TLSContext { current.withLock { $0 } }

    func replace(with context: TLSContext) { current.withLock { $0 = context } }

    /// When the first of them expires, in seconds since 1970.
    var expiresSeconds: Int64 { context.certificates.map(\.expiresSeconds).min() ?? 0 }
}

/// What makes a `TLSHandler` for each connection, on their event loop.
struct TLSHandlers: Sendable {
    private let certificates: HTTPCertificates
    private let wire: NIOLoopBoundBox<TLSWire>
    private let limits: HTTPLimits
    private let counters: HTTPCounters

    init(
        _ certificates: HTTPCertificates, _ limits: HTTPLimits, _ counters: HTTPCounters,
        on loop: any EventLoop
    ) {
        self.certificates = certificates
        self.limits = limits
        self.counters = counters
        wire = NIOLoopBoundBox.makeBoxSendingValue(TLSWire(), eventLoop: loop)
    }

    func make() -> TLSHandler { TLSHandler(certificates.context, wire.value, limits, counters) }
}
