import NIOCore
import OutgoingHTTP

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
    let http: OutgoingHTTP

    /// The bytes of a response body that are read, and discarded, so that the connection can be
    /// used again.
    private static let bodyBytesMax = 16 << 10

    func post(
        _ body: ByteBuffer, to url: String, headers: [(String, String)], timeoutSeconds: Int
    ) async -> PostOutcome {
        do throws(OutgoingFault) {
            let response = try await http.send(
                OutgoingRequest(
                    "POST", url, headers: headers, body: body, timeoutSeconds: timeoutSeconds,
                    responseBytesMax: Self.bodyBytesMax))
            return .answered(
                status: response.status, response.header("retry-after").flatMap(RetryAfter.init))
        } catch {
            return .failed(error.words(timeoutSeconds: timeoutSeconds))
        }
    }
}
