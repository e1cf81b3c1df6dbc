import HTTPTypes
import NIOCore
import PresenceGateway

// Errors of the service, and of the connection to it.

extension HTTPError {
    /// The error for an `error` object of the service.
    init(serviceError error: ByteBuffer) {
        guard let object = try? JSONObject(error),
            let code = object["code"].flatMap(JSONText.integer),
            let message = object["message"].flatMap(JSONText.string),
            let data = object["data"].flatMap({ try? JSONObject($0) }),
            let reason = data["reason"].flatMap(JSONText.string)
        else {
            self = .notUnderstood
            return
        }
        self.init(Self.status(of: code), reason, message)
        for member in data.members where member.name != "reason" {
            members.append((member.name, member.value))
        }
        if code == 401 { headers.append((.wwwAuthenticate, "Bearer realm=\"porchlight\"")) }
        let seconds = data["retryAfter"].flatMap(JSONText.integer)
        if let seconds {
            headers.append((.retryAfter, String(seconds)))
        } else if code == 503 || code == 416 {
            headers.append((.retryAfter, "1"))
        }
    }

    /// The native codes are those of HTTP where the meaning is the same; the others are NIM's.
    private static func status(of code: Int) -> HTTPResponse.Status {
        switch code {
        case 401: .unauthorized
        case 403: .forbidden
        case 414: .unprocessableContent
        case 416: .tooManyRequests
        case 419: .conflict
        case 503: .serviceUnavailable
        case -32_601: .notImplemented
        case -32_700, -32_600: .badRequest
        default: .internalServerError
        }
    }

    /// The error for a request that has no response from the service.
    init(_ error: any Error) {
        switch error {
        case let error as HTTPError: self = error
        case GatewayError.overloaded:
            self = HTTPError(
                .serviceUnavailable, "overloaded", "Too many requests are pending; try again later."
            )
            .with("retryAfter", 1).with(.retryAfter, "1")
        case GatewayError.timedOut:
            self = HTTPError(
                .gatewayTimeout, "timed_out",
                "The request timed out; it may or may not have been carried out.")
        case GatewayError.requestTooLarge(let bytesMax):
            self = .bodyTooLarge(bytesMax: bytesMax)
        case GatewayError.answerTooLarge:
            self = HTTPError(
                .unprocessableContent, "too_many",
                "The response would be too large; request fewer states.")
        case GatewayError.closed(let notice) where notice.code / 100 == 45:
            self = HTTPError(.serviceUnavailable, notice.reason, notice.message)
                .retryingAfter(seconds: notice.retryAfterSeconds ?? 1)
        case GatewayError.closed, GatewayError.ended, is CancellationError:
            self = HTTPError(
                .serviceUnavailable, "shutting_down",
                "The service is shutting down; try again later."
            )
            .retryingAfter(seconds: 1)
        default: self = .notUnderstood
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
