public import HTTPValues
public import NIOCore
public import OutgoingHTTP

/// The result of one attempt to deliver something.
public enum DeliveryOutcome: Hashable, Sendable {
    /// A response, and when the receiver wants the next attempt, if it says so.
    case response(status: Int, RetryAfter? = nil)
    /// There was no response; the text says why, for the log.
    case noResponse(String)

    /// The status of the response, if there was one.
    public var status: Int? {
        if case .response(let status, _) = self { status } else { nil }
    }

    /// When the receiver wants the next attempt, if it says so.
    public var retryAfter: RetryAfter? {
        if case .response(_, let retryAfter) = self { retryAfter } else { nil }
    }

    /// Whether the receiver has accepted it.
    public var isAccepted: Bool { status.map { 200...299 ~= $0 } ?? false }

    /// Whether the receiver asks for everything, since it has lost what it had: 205 Reset Content.
    public var asksForReset: Bool { status == 205 }

    /// Why it was not accepted, for the log.
    public var failureReason: String {
        switch self {
        case .response(let status, _): "status \(status)"
        case .noResponse(let why): why
        }
    }
}

/// Something to post.
public struct DeliveryRequest: Sendable {
    /// Never shown: it may contain a secret.
    public var url: OutgoingURL
    /// Its headers.
    public var headers: [(String, String)]
    /// Its body.
    public var body: ByteBuffer
    /// Where it may be sent to.
    public var reach: OutgoingRequest.Reach

    /// A request.
    public init(
        _ body: ByteBuffer, to url: OutgoingURL, headers: [(String, String)],
        reach: OutgoingRequest.Reach = .anywhere
    ) {
        self.url = url
        self.headers = headers
        self.body = body
        self.reach = reach
    }
}

/// How requests reach their receivers.
public protocol Delivery: Sendable {
    /// Posts once. Does not throw: an attempt without a response has failed.
    func attempt(_ request: DeliveryRequest, timeoutSeconds: Int) async -> DeliveryOutcome
}

/// Delivery over HTTP. Redirects are not followed: what is sent is for its receiver only.
public struct HTTPDelivery: Delivery {
    private let http: OutgoingHTTP

    /// The bytes of a response body that are read, and discarded, so that the connection can be
    /// used again.
    private static let bodyBytesMax = 16 << 10

    /// Over this client.
    public init(http: OutgoingHTTP) { self.http = http }

    /// Posts once.
    public func attempt(
        _ request: DeliveryRequest, timeoutSeconds: Int
    ) async -> DeliveryOutcome {
        do throws(OutgoingError) {
            let response = try await http.send(
                OutgoingRequest(
                    .post(request.body), request.url, headers: request.headers,
                    timeoutSeconds: timeoutSeconds, responseBytesMax: Self.bodyBytesMax,
                    reach: request.reach))
            return .response(
                status: response.status, response.header("retry-after").flatMap(RetryAfter.init))
        } catch {
            return .noResponse(error.text(timeoutSeconds: timeoutSeconds))
        }
    }
}
