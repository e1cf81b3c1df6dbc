import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// What became of a POST.
struct PostOutcome: Sendable {
    /// Nil: there was no answer in time.
    var status: Int?
    var retryAfterSeconds: Int?

    var isTaken: Bool { status.map { 200...299 ~= $0 } ?? false }
}

/// Posts bodies.
protocol Poster: Sendable {
    /// Posts once. Never throws: what is not answered has failed.
    func post(
        _ body: ByteBuffer, to url: String, headers: [(String, String)], timeoutSeconds: Int
    ) async -> PostOutcome
}

/// Posts over HTTP. Redirects are no answer: a body that is signed goes where it was meant to.
struct HTTPPoster: Poster {
    let client: HTTPClient

    /// Of an answer's body, which nobody reads, so many bytes are taken to use its connection
    /// again.
    private static let bodyBytesMax = 16 << 10

    init(on group: any EventLoopGroup) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(5)
        client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: configuration)
    }

    func post(
        _ body: ByteBuffer, to url: String, headers: [(String, String)], timeoutSeconds: Int
    ) async -> PostOutcome {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = HTTPHeaders(headers)
        request.body = .bytes(body)
        // The client's own time limit ends with the head of the answer: a receiver that stalls
        // in its body would be waited for for ever.
        let answer = Task { [request] in try await outcome(of: request, timeoutSeconds) }
        let deadline = Task {
            try await Task.sleep(for: .seconds(timeoutSeconds))
            answer.cancel()
        }
        defer { deadline.cancel() }
        return await withTaskCancellationHandler {
            (try? await answer.value) ?? PostOutcome()
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
        return PostOutcome(
            status: Int(answer.status.code),
            retryAfterSeconds: answer.headers.first(name: "retry-after").flatMap { Int($0) })
    }
}
