import HTTPValues
import NIOCore
import OutgoingHTTP

/// The result of one attempt to deliver a batch.
enum DeliveryOutcome: Hashable, Sendable {
    case response(status: Int, RetryAfter? = nil)
    /// There was no response; the text says why, for the log.
    case noResponse(String)

    /// The status of the response, if there was one.
    var status: Int? {
        if case .response(let status, _) = self { status } else { nil }
    }

    /// When the receiver wants the next attempt, if it says so.
    var retryAfter: RetryAfter? {
        if case .response(_, let retryAfter) = self { retryAfter } else { nil }
    }

    var isAccepted: Bool { status.map { 200...299 ~= $0 } ?? false }

    /// Why the batch was not accepted, for the log.
    var failureReason: String {
        switch self {
        case .response(let status, _): "status \(status)"
        case .noResponse(let why): why
        }
    }
}

/// How batches reach an endpoint.
protocol WebhookDelivery: Sendable {
    /// Posts a body once. Does not throw: an attempt without a response has failed.
    func attempt(
        _ body: ByteBuffer, to url: OutgoingURL, headers: [(String, String)], timeoutSeconds: Int
    ) async -> DeliveryOutcome
}

/// Delivery over HTTP. Redirects are not followed: a signed body goes only to its own endpoint.
struct HTTPDelivery: WebhookDelivery {
    let http: OutgoingHTTP

    /// The bytes of a response body that are read, and discarded, so that the connection can be
    /// used again.
    private static let bodyBytesMax = 16 << 10

    func attempt(
        _ body: ByteBuffer, to url: OutgoingURL, headers: [(String, String)], timeoutSeconds: Int
    ) async -> DeliveryOutcome {
        do throws(OutgoingError) {
            let response = try await http.send(
                OutgoingRequest(
                    .post(body), url, headers: headers, timeoutSeconds: timeoutSeconds,
                    responseBytesMax: Self.bodyBytesMax))
            return .response(
                status: response.status, response.header("retry-after").flatMap(RetryAfter.init))
        } catch {
            return .noResponse(error.text(timeoutSeconds: timeoutSeconds))
        }
    }
}
