import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// The result of a POST.
enum PostOutcome: Hashable, Sendable {
    case answered(status: Int, RetryAfter? = nil)
    /// There was no response; the text for the log says why.
    case failed(String)

    /// The status of the response, if there was one.
    var status: Int? {
        if case .answered(let status, _) = self { status } else { nil }
    }

    /// When the receiver wants the next attempt, if it says so.
    var retryAfter: RetryAfter? {
        if case .answered(_, let retryAfter) = self { retryAfter } else { nil }
    }

    var isTaken: Bool { status.map { 200...299 ~= $0 } ?? false }

    /// Why the batch was not accepted, for the log.
    var fault: String {
        switch self {
        case .answered(let status, _): "status \(status)"
        case .failed(let why): why
        }
    }
}

/// Posts bodies.
protocol Poster: Sendable {
    /// Posts once. Never throws: a POST without a response has failed.
    func post(
        _ body: ByteBuffer, to url: String, headers: [(String, String)], timeoutSeconds: Int
    ) async -> PostOutcome
}

/// Posts over HTTP. Redirects are not followed: a signed body goes only to its own endpoint.
struct HTTPPoster: Poster {
    let client: HTTPClient

    /// The bytes of a response body that are read, and discarded, so that the connection can be
    /// used again.
    private static let bodyBytesMax = 16 << 10

    init(on group: any EventLoopGroup, connectSecondsMax: Int64 = 5) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(connectSecondsMax)
        // The webhook retries and logs by itself; a retry inside the client would only delay the
        // reason why it cannot connect.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
    }

    func post(
        _ body: ByteBuffer, to url: String, headers: [(String, String)], timeoutSeconds: Int
    ) async -> PostOutcome {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = HTTPHeaders(headers)
        request.body = .bytes(body)
        // The client's own timeout ends with the head of the response: a receiver that stalls in
        // its body would block the webhook indefinitely.
        let answer = Task { [request] in try await outcome(of: request, timeoutSeconds) }
        let deadline = Task {
            try await Task.sleep(for: .seconds(timeoutSeconds))
            answer.cancel()
        }
        defer { deadline.cancel() }
        return await withTaskCancellationHandler {
            do {
                return try await answer.value
            } catch {
                return .failed(PostFault(error).words(timeoutSeconds: timeoutSeconds))
            }
        } onCancel: {
            answer.cancel()
        }
    }

    private func outcome(
        of request: HTTPClientRequest, _ timeoutSeconds: Int
    ) async throws -> PostOutcome {
        let answer = try await client.execute(request, timeout: .seconds(Int64(timeoutSeconds)))
        _ = try? await answer.body.collect(upTo: Self.bodyBytesMax)
        try Task.checkCancellation()
        return .answered(
            status: Int(answer.status.code),
            answer.headers.first(name: "retry-after").flatMap(RetryAfter.init))
    }
}
