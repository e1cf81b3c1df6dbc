import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import PresenceGateway

/// Why a request is not carried out, as RFC 9457 has it: with the same `reason` as on the wire,
/// and whatever else stands there in `data`.
struct Problem: Error, Sendable {
    var status: HTTPResponse.Status
    var reason: String
    /// A sentence for a person.
    var detail: String
    /// Further members, each one JSON value.
    var members: [(name: String, value: ByteBuffer)] = []
    var headers: [(name: HTTPField.Name, value: String)] = []

    init(_ status: HTTPResponse.Status, _ reason: String, _ detail: String) {
        self.status = status
        self.reason = reason
        self.detail = detail
    }

    /// What every problem of a reason is called: the reason in words.
    static func title(of reason: String) -> String {
        let words = reason.split(separator: "_").joined(separator: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }

    /// The problem as an answer.
    var response: Response {
        var body = JSONMembers()
        body.append("type", "urn:porchlight:problem:\(reason)")
        body.append("title", Self.title(of: reason))
        body.append("status", status.code)
        body.append("detail", detail)
        body.append("reason", reason)
        for member in members { body.append(member.name, json: member.value) }
        var response = Response(
            status: status, headers: [.contentType: "application/problem+json"],
            body: ResponseBody(byteBuffer: body.object))
        for header in headers { response.headers[header.name] = header.value }
        return response
    }

    func with(_ name: String, _ value: Int) -> Problem {
        var problem = self
        problem.members.append((name, ByteBuffer(string: String(value))))
        return problem
    }

    func with(_ name: String, _ value: String) -> Problem {
        var problem = self
        var text = ByteBuffer()
        text.writeJSON(value)
        problem.members.append((name, text))
        return problem
    }

    func with(_ header: HTTPField.Name, _ value: String) -> Problem {
        var problem = self
        problem.headers.append((header, value))
        return problem
    }
}

// What is refused before the service is asked.
extension Problem {
    static var notFound: Problem {
        Problem(.notFound, "not_found", "There is nothing under this path. See /openapi.json.")
    }

    static func methodNotAllowed(_ methods: [HTTPRequest.Method]) -> Problem {
        var names = methods.map(\.rawValue)
        if methods.contains(.get) { names.append(HTTPRequest.Method.head.rawValue) }
        let allowed = names.sorted().joined(separator: ", ")
        return Problem(
            .methodNotAllowed, "method_not_allowed", "Only \(allowed) can be done here."
        ).with(.allow, allowed)
    }

    static var noKey: Problem {
        Problem(
            .unauthorized, "not_logged_in",
            "Give a server key: `Authorization: Bearer KEY`."
        ).with(.wwwAuthenticate, "Bearer realm=\"porchlight\"")
    }

    static var invalidKey: Problem {
        Problem(.unauthorized, "invalid_token", "This is no key of this service.").with(
            .wwwAuthenticate, "Bearer realm=\"porchlight\", error=\"invalid_token\"")
    }

    static var misdirected: Problem {
        Problem(
            .misdirectedRequest, "misdirected",
            "Without keys this API answers to localhost and numeric addresses only.")
    }

    static var noJSON: Problem {
        Problem(
            .unsupportedMediaType, "unsupported_media_type",
            "The body must be JSON: `Content-Type: application/json`."
        ).with(.accept, "application/json")
    }

    static func bodyTooLarge(bytesMax: Int) -> Problem {
        Problem(
            .contentTooLarge, "body_too_large", "The body may have at most \(bytesMax) bytes."
        ).with("limit", bytesMax)
    }

    static func invalidEncoding(in place: String) -> Problem {
        Problem(
            .badRequest, "invalid_utf8",
            "The \(place) must be UTF-8, with `%` and two digits for what cannot stand there."
        ).with("field", place)
    }

    static func duplicate(_ name: String) -> Problem {
        Problem(.unprocessableContent, "duplicate_field", "`\(name)` stands there twice.").with(
            "field", name)
    }

    static func notInteger(_ name: String) -> Problem {
        Problem(.unprocessableContent, "wrong_type", "`\(name)` must be an integer.").with(
            "field", name)
    }

    static var tooManyFeedReaders: Problem {
        Problem(
            .serviceUnavailable, "overloaded", "As many read the feed as may. Come back later."
        ).with("retryAfter", 10).with(.retryAfter, "10")
    }

    init(_ fault: JSONFault) {
        switch fault {
        case .invalidUTF8: self.init(.badRequest, "invalid_utf8", "The body is not UTF-8.")
        case .invalid: self.init(.badRequest, "invalid_json", "The body is not one JSON value.")
        case .tooDeep:
            self.init(
                .badRequest, "too_deep",
                "The body nests deeper than \(JSONObject.depthMax) levels.")
        case .noObject:
            self.init(.badRequest, "invalid_request", "The body must be a JSON object.")
        case .tooManyMembers:
            self.init(
                .badRequest, "invalid_request",
                "The body may have at most \(JSONObject.membersMax) members.")
        }
    }
}
