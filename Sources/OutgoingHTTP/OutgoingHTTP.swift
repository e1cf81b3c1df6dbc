// Requests of the service to others: webhooks, and keys at a URL. The only user of
// AsyncHTTPClient.
//
// Its async interface starts tasks on the runtime's shared pool, where no task of the service may
// run (`TaskLoop` says why), and its timeout ends with the head of a response. So its futures are
// used, with a timer that ends the whole request.

import AsyncHTTPClient
public import NIOCore
import NIOHTTP1
import Synchronization
public import TaskLoops

/// A request.
public struct OutgoingRequest: Sendable {
    /// `GET` or `POST`.
    public var method: String
    /// Redirects are not followed.
    public var url: OutgoingURL
    /// Its headers.
    public var headers: [(String, String)]
    /// The body; nil for none.
    public var body: ByteBuffer?
    /// Seconds until the end of the response, at most.
    public var timeoutSeconds: Int
    /// Bytes of the response's body that are kept.
    public var responseBytesMax: Int

    /// A request.
    public init(
        _ method: String, _ url: OutgoingURL, headers: [(String, String)], body: ByteBuffer? = nil,
        timeoutSeconds: Int, responseBytesMax: Int
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeoutSeconds = timeoutSeconds
        self.responseBytesMax = responseBytesMax
    }
}

/// A response, of any status.
public struct OutgoingResponse: Sendable {
    /// Its status.
    public let status: Int
    /// Its body, up to the request's `responseBytesMax`.
    public internal(set) var body = ByteBuffer()
    /// Whether `body` is complete.
    public internal(set) var isWhole = true
    private let headers: HTTPHeaders

    init(_ head: HTTPResponseHead) {
        status = Int(head.status.code)
        headers = head.headers
    }

    /// The value of a header; the first if there are several.
    public func header(_ name: String) -> String? { headers.first(name: name) }
}

/// Sends requests, on one event loop.
public final class OutgoingHTTP: Sendable {
    /// The loop, for tasks that send requests.
    public let loop: TaskLoop
    private let client: HTTPClient

    /// A client without connections. It keeps a connection open for each host that it has called.
    public init(on loop: TaskLoop, connectSecondsMax: Int64 = 5) {
        self.loop = loop
        var configuration = HTTPClient.Configuration()
        // A redirect could lead to a URL that the rules do not allow, or send a signed body there.
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(connectSecondsMax)
        // The callers retry and log by themselves; a retry in the client would only delay the
        // reason why it cannot connect.
        configuration.connectionPool.retryConnectionEstablishment = false
        // Requests behind one that stalls would time out although their receiver responds.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        client = HTTPClient(
            eventLoopGroupProvider: .shared(loop.eventLoop), configuration: configuration)
    }

    /// Sends a request, and returns its complete response.
    public func send(
        _ request: OutgoingRequest
    ) async throws(OutgoingError) -> OutgoingResponse {
        let collector = ResponseCollector(bytesMax: request.responseBytesMax)
        do {
            let exchange = client.execute(
                request: try HTTPClient.Request(
                    url: request.url.text, method: HTTPMethod(rawValue: request.method),
                    headers: HTTPHeaders(request.headers),
                    body: request.body.map { .byteBuffer($0) }),
                delegate: collector)
            let timeout = TimeAmount.seconds(Int64(request.timeoutSeconds))
            let timer = loop.eventLoop.scheduleTask(in: timeout) { exchange.cancel() }
            defer { timer.cancel() }
            return try await withTaskCancellationHandler {
                try await exchange.futureResult.get()
            } onCancel: {
                exchange.cancel()
            }
        } catch let cut as ResponseCollector.BodyTooLargeError {
            return cut.response
        } catch {
            throw OutgoingError(error)
        }
    }

    /// Ends every connection. No request may follow.
    public func stop() async {
        try? await client.shutdown().get()
    }
}

/// Keeps the first bytes of a response.
private final class ResponseCollector: HTTPClientResponseDelegate {
    /// Ends a request whose response is longer than `bytesMax`.
    struct BodyTooLargeError: Error {
        let response: OutgoingResponse
    }

    private let bytesMax: Int
    private let response = Mutex<OutgoingResponse?>(nil)

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    func didReceiveHead(
        task: HTTPClient.Task<OutgoingResponse>, _ head: HTTPResponseHead
    ) -> EventLoopFuture<Void> {
        response.withLock { $0 = OutgoingResponse(head) }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(
        task: HTTPClient.Task<OutgoingResponse>, _ buffer: ByteBuffer
    ) -> EventLoopFuture<Void> {
        let cut = response.withLock { response -> OutgoingResponse? in
            let isRoom =
                (response?.body.readableBytes ?? 0) + buffer.readableBytes <= bytesMax
            if isRoom { response?.body.writeImmutableBuffer(buffer) }
            response?.isWhole = isRoom
            return isRoom ? nil : response
        }
        guard let cut else { return task.eventLoop.makeSucceededVoidFuture() }
        return task.eventLoop.makeFailedFuture(BodyTooLargeError(response: cut))
    }

    func didFinishRequest(task: HTTPClient.Task<OutgoingResponse>) throws -> OutgoingResponse {
        guard let response = response.withLock({ $0 }) else {
            throw HTTPClientError.remoteConnectionClosed
        }
        return response
    }
}
