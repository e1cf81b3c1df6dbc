// Requests of the service to others: webhooks, and keys at a URL. The only user of libcurl.
//
//     caller's task ─▶ OutgoingHTTP ─▶ TransferThread ─▶ Transfers ─▶ Transfer ─▶ libcurl
//                                        (any thread)   (one thread, which has all of libcurl)
//
// A request ends with its response, with its timeout, or with its task. The last two are the same
// to libcurl: the transfer is taken out of it. Only the time to connect is left to libcurl.

public import HTTPValues
public import NIOCore
import Synchronization
public import TaskLoops

/// A request.
public struct OutgoingRequest: Sendable {
    /// What is asked of the server.
    public enum Method: Sendable {
        case get
        case post(ByteBuffer)
    }

    let method: Method
    let url: OutgoingURL
    let headers: [(String, String)]
    let timeoutSeconds: Int
    let responseBytesMax: Int
    let reach: Reach

    /// Where a request may be sent.
    public enum Reach: Sendable {
        /// To any address: the operator has named the URL.
        case anywhere
        /// To public addresses only, whatever the host of the URL resolves to. If the environment
        /// names a proxy, every such request is sent through it, and the proxy decides.
        case publicAddresses
    }

    /// A request, without redirects.
    ///
    /// It ends after `timeoutSeconds`. `responseBytesMax` bytes of the response's body are kept.
    public init(
        _ method: Method, _ url: OutgoingURL, headers: [(String, String)], timeoutSeconds: Int,
        responseBytesMax: Int, reach: Reach = .anywhere
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.timeoutSeconds = timeoutSeconds
        self.responseBytesMax = responseBytesMax
        self.reach = reach
    }
}

/// Sends requests, on a thread of its own, which is started with the first.
public final class OutgoingHTTP: Sendable {
    /// The loop, for tasks that send requests.
    public let loop: TaskLoop
    private let thread: TransferThread
    private let lastID = Atomic<UInt64>(0)

    /// A client without connections. It keeps connections open after a request, for further ones.
    ///
    /// At most `transfersMax` requests are in flight, over at most `connectionsMax` connections if
    /// that is given; others wait. Servers are verified with the authorities of the system, or with
    /// those in the file at `authoritiesPath`.
    public convenience init(
        on loop: TaskLoop, connectSecondsMax: Int64 = 5, transfersMax: Int = 64,
        connectionsMax: Int? = nil, authoritiesPath: String? = nil
    ) {
        self.init(
            on: loop,
            TransferRules(
                connectSecondsMax: Int(connectSecondsMax), transfersMax: transfersMax,
                connectionsMax: connectionsMax, authoritiesPath: authoritiesPath))
    }

    init(on loop: TaskLoop, _ rules: TransferRules) {
        self.loop = loop
        thread = TransferThread(rules)
    }

    deinit { thread.end() }

    /// Sends a request, and returns its complete response.
    public func send(
        _ request: OutgoingRequest
    ) async throws(OutgoingError) -> OutgoingResponse {
        let id = lastID.wrappingAdd(1, ordering: .relaxed).newValue
        let lines = try RequestHeaders.lines(request.headers)
        var timer: Scheduled<Void>?
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                thread.begin(
                    TransferOrder(
                        id: id, request: request, headerLines: lines,
                        report: { continuation.resume(returning: $0) }))
                // A cancellation before `begin` has found nothing to cancel.
                if Task.isCancelled { thread.cancel(id) }
                timer = loop.eventLoop.scheduleTask(
                    in: .seconds(Int64(request.timeoutSeconds))
                ) { [thread] in thread.cancel(id) }
            }
        } onCancel: {
            thread.cancel(id)
        }
        timer?.cancel()
        return try result.get()
    }

    /// Ends every request and connection. Requests that follow fail.
    public func stop() async {
        await withCheckedContinuation { continuation in
            thread.end { continuation.resume() }
        }
    }
}
