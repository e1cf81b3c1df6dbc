import NIOCore
import NIOPosix
import Synchronization

/// Serves the page of `porchlight demo` on loopback, on a thread of its own. It knows the service
/// by its address only.
public final class DemoServer: Sendable {
    /// Where it listens, with the port really bound.
    public var address: String { listener.address }

    private let listener: HTTPListener
    private let pages: DemoPages

    /// Starts it, and waits until it listens. Not to be called on an event loop.
    ///
    /// - Parameters:
    ///   - port: 0 for any free port.
    ///   - kill: called when the page asks that the service be killed and started again. It calls
    ///     its argument when the service is ready, with how long that took in milliseconds.
    public init(
        port: Int, wallMilliseconds: @escaping @Sendable () -> Int64,
        kill: @escaping @Sendable (_ whenReady: @escaping @Sendable (Int64) -> Void) -> Void
    ) throws(HTTPStartError) {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let pages = DemoPages(DateField(wallMilliseconds), kill: kill)
        let shared = HTTPConnection.Shared(pages, on: group.next())
        let place = HTTPPlace(host: "127.0.0.1", port: port)
        listener = try HTTPListener(place, isSecure: false, on: group) { channel in
            try channel.pipeline.syncOperations.addHandler(HTTPConnection(shared))
        }
        self.pages = pages
    }

    /// Serves the pages from now on.
    ///
    /// - Parameter service: where clients connect to the service: an address with a port.
    public func begin(for service: String) {
        pages.begin(at: address, for: service)
    }

    /// Accepts no further connections. Not to be called on an event loop.
    public func stop() {
        listener.stop()
    }
}
