import NIOCore
import PresenceGateway

/// Why a request is not carried out. Sent as problem details (RFC 9457), with the `reason` of the
/// native protocol and the other members of its `data`.
struct HTTPError: Error, Sendable {
    var status: HTTPStatus
    var reason: String
    /// A human-readable sentence.
    var detail: String
    /// Further members, each one JSON value.
    var members: [(name: String, value: ByteBuffer)] = []
    /// Members that are JSON already, each with a comma before it.
    var furtherMembers: [UInt8] = []
    var headers: [(name: FieldName, value: String)] = []

    init(_ status: HTTPStatus, _ reason: String, _ detail: String) {
        self.status = status
        self.reason = reason
        self.detail = detail
    }

    /// The title of all errors with this reason: the reason with spaces.
    static func title(of reason: String) -> String {
        let words = reason.split(separator: "_").joined(separator: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// The response for this error.
    var response: Response {
        var body = JSONMembers()
        body.append("type", "urn:porchlight:problem:\(reason)")
        body.append("title", Self.title(of: reason))
        body.append("status", status.rawValue)
        body.append("detail", detail)
        body.append("reason", reason)
        for member in members { body.append(member.name, json: member.value) }
        body.append(members: furtherMembers)
        var response = Response(
            status: status, headers: [.contentType: "application/problem+json"],
            body: .buffer(body.object))
        for header in headers { response.headers[header.name] = header.value }
        return response
    }

    func with(_ name: String, _ value: Int) -> HTTPError {
        var copy = self
        copy.members.append((name, ByteBuffer(string: String(value))))
        return copy
    }

    func with(_ name: String, _ value: String) -> HTTPError {
        var copy = self
        var text = ByteBuffer()
        text.writeJSON(value)
        copy.members.append((name, text))
        return copy
    }

    func with(_ header: FieldName, _ value: String) -> HTTPError {
        var copy = self
        copy.headers.append((header, value))
        return copy
    }
}

// Requests that are rejected before they reach the service.
extension HTTPError {
    static var notFound: HTTPError {
        HTTPError(.notFound, "not_found", "There is no such path; see /openapi.json.")
    }

    static var webSocket: HTTPError {
        HTTPError(
            .upgradeRequired, "upgrade_required",
            "This is the HTTP API, which has no WebSocket: connect to /v1/socket at the address of "
                + "the setting `listen`, with port 7400 by default."
        ).with(.upgrade, "websocket").with(.connection, "Upgrade")
    }

    static func methodNotAllowed(_ methods: [HTTPMethod]) -> HTTPError {
        var names = methods.map(\.rawValue)
        if methods.contains(.get) { names.append(HTTPMethod.head.rawValue) }
        let allowed = names.sorted().joined(separator: ", ")
        return HTTPError(
            .methodNotAllowed, "method_not_allowed", "This path allows only \(allowed)."
        ).with(.allow, allowed)
    }

    static var noKey: HTTPError {
        HTTPError(
            .unauthorized, "not_logged_in",
            "Give a server key: `Authorization: Bearer KEY`."
        ).with(.wwwAuthenticate, "Bearer realm=\"porchlight\"")
    }

    static var invalidKey: HTTPError {
        HTTPError(.unauthorized, "invalid_token", "Invalid server key.").with(
            .wwwAuthenticate, "Bearer realm=\"porchlight\", error=\"invalid_token\"")
    }

    static func readOnlyKey(_ name: String) -> HTTPError {
        HTTPError(
            .forbidden, "read_only_key",
            "The key `\(name)` may only read: GET and HEAD, except of messages and devices, and "
                + "POST /v1/states. Use one that was made without --read-only."
        ).with("key", name)
    }

    static var misdirected: HTTPError {
        HTTPError(
            .misdirectedRequest, "misdirected",
            "Without server keys, `Host` must be localhost or a numeric address.")
    }

    static var notDecoded: HTTPError {
        HTTPError(
            .unsupportedMediaType, "unsupported_media_type",
            "The body must not be encoded: send it without `Content-Encoding`."
        ).with(.acceptEncoding, "identity")
    }

    static var noJSON: HTTPError {
        HTTPError(
            .unsupportedMediaType, "unsupported_media_type",
            "The body must be JSON: `Content-Type: application/json`."
        ).with(.accept, "application/json")
    }

    static func bodyTooLarge(bytesMax: Int) -> HTTPError {
        HTTPError(
            .contentTooLarge, "body_too_large", "The body may have at most \(bytesMax) bytes."
        ).with("limit", bytesMax)
    }

    static func invalidEncoding(in place: String) -> HTTPError {
        HTTPError(
            .badRequest, "invalid_utf8",
            "The \(place) must be percent-encoded UTF-8."
        ).with("field", place)
    }

    static func duplicate(_ name: String) -> HTTPError {
        HTTPError(.unprocessableContent, "duplicate_field", "`\(name)` appears more than once.")
            .with(
                "field", name)
    }

    static func notInteger(_ name: String) -> HTTPError {
        HTTPError(.unprocessableContent, "wrong_type", "`\(name)` must be an integer.").with(
            "field", name)
    }

    static var tooManyFeedReaders: HTTPError {
        HTTPError(
            .serviceUnavailable, "overloaded",
            "The limit on feed readers is reached; try again later."
        ).with("retryAfter", 10).with(.retryAfter, "10")
    }
}
