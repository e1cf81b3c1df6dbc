import PresenceServer
import PresenceWire

// Errors of the service, and of calls that have no response.

extension HTTPError {
    /// The error with which the service has rejected a call.
    init(_ error: ErrorContent) {
        self.init(Self.status(of: error.code), error.reason, error.message)
        furtherMembers = error.members
        if error.code == 401 { headers.append((.wwwAuthenticate, "Bearer realm=\"porchlight\"")) }
        if let seconds = error.retryAfterSeconds {
            headers.append((.retryAfter, String(seconds)))
        } else if error.code == 503 || error.code == 416 {
            headers.append((.retryAfter, "1"))
        }
    }

    /// The native codes are those of HTTP where the meaning is the same; the others are NIM's, and
    /// from 1,000 on JPush's.
    private static func status(of code: Int) -> HTTPStatus {
        switch code {
        case 401: .unauthorized
        case 403: .forbidden
        case 404, 1_011: .notFound
        case 414, 6_001...6_008: .unprocessableContent
        case 416: .tooManyRequests
        case 419: .conflict
        case 503: .serviceUnavailable
        case -32_601: .notImplemented
        case -32_700, -32_600: .badRequest
        default: .internalServerError
        }
    }

    /// A thread of the service does not respond.
    static var notResponding: HTTPError {
        HTTPError(.serviceUnavailable, "overloaded", "A thread of the service does not respond.")
            .with(.retryAfter, "1")
    }

    /// The error for a request that could not be carried out.
    init(_ error: any Error) {
        switch error {
        case let error as HTTPError: self = error
        case let error as InProcessError: self.init(error)
        default: self = .notUnderstood
        }
    }

    private init(_ error: InProcessError) {
        switch error {
        case .rejected(let content): self.init(content)
        case .starting: self = .startingUp
        case .overloaded:
            self = HTTPError(
                .serviceUnavailable, "overloaded", "Too many requests are pending; try again later."
            )
            .retryingAfter(seconds: 1)
        case .timedOut:
            self = HTTPError(
                .gatewayTimeout, "timed_out",
                "The request timed out; it may or may not have been carried out.")
        case .tooLong(let bytesMax): self = .bodyTooLarge(bytesMax: bytesMax)
        case .invalidBody(let error): self.init(error)
        case .ended, .cancelled:
            self = HTTPError(
                .serviceUnavailable, "shutting_down",
                "The service is shutting down; try again later."
            )
            .retryingAfter(seconds: 1)
        }
    }

    /// Others hold the connections of the share that the request belongs to.
    static func noPlace(for party: RequestParty) -> HTTPError {
        let those =
            switch party {
            case .health, .full: "all clients"
            case .anonymous: "clients without a key"
            case .readOnly: "keys that may only read"
            }
        return HTTPError(
            .serviceUnavailable, "overloaded",
            "Too many requests of \(those) are being answered; try again later."
        )
        .retryingAfter(seconds: 1)
    }

    private init(_ error: BodyError) {
        switch error {
        case .invalidUTF8: self.init(.badRequest, "invalid_utf8", "The body is not UTF-8.")
        case .invalidJSON(let position?):
            self = HTTPError(
                .badRequest, "invalid_json",
                "The body is not a single JSON value; the error is at byte \(position), counted "
                    + "from 0."
            ).with("position", position)
        case .invalidJSON(nil):
            self.init(.badRequest, "invalid_json", "The body is not a single JSON value.")
        case .tooDeep(let levelsMax):
            self.init(
                .badRequest, "too_deep", "The body is nested deeper than \(levelsMax) levels.")
        case .notAnObject:
            self.init(.badRequest, "invalid_request", "The body must be a JSON object.")
        case .tooManyMembers(let countMax):
            self.init(
                .badRequest, "invalid_request",
                "The body may have at most \(countMax) members.")
        case .duplicateMember:
            self.init(
                .unprocessableContent, "duplicate_field",
                "A member of the body, or of an object in it, appears more than once.")
        }
    }

    private func retryingAfter(seconds: Int) -> HTTPError {
        with("retryAfter", seconds).with(.retryAfter, String(seconds))
    }

    static var startingUp: HTTPError {
        HTTPError(
            .serviceUnavailable, "starting_up", "The service is starting up; try again later."
        )
        .retryingAfter(seconds: 1)
    }

    static var notUnderstood: HTTPError {
        HTTPError(.internalServerError, "internal", "Internal error.")
    }
}
