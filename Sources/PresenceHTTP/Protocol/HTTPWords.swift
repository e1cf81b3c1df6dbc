// The words of HTTP that the API uses: methods, statuses and names of fields.

import HTTPValues

/// A registered method that servers may be sent (RFC 9110, 9; RFC 5789; QUERY).
enum HTTPMethod: String, CaseIterable, Sendable {
    case connect = "CONNECT"
    case delete = "DELETE"
    case get = "GET"
    case head = "HEAD"
    case options = "OPTIONS"
    case patch = "PATCH"
    case post = "POST"
    case put = "PUT"
    case query = "QUERY"
    case trace = "TRACE"
}

/// A status of a response (RFC 9110, 15).
enum HTTPStatus: Int, CaseIterable, Sendable {
    case ok = 200
    case notModified = 304
    case permanentRedirect = 308
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case conflict = 409
    case contentTooLarge = 413
    case targetTooLong = 414
    case unsupportedMediaType = 415
    case expectationFailed = 417
    case misdirectedRequest = 421
    case unprocessableContent = 422
    case upgradeRequired = 426
    case tooManyRequests = 429
    case headerFieldsTooLarge = 431
    case internalServerError = 500
    case notImplemented = 501
    case serviceUnavailable = 503
    case gatewayTimeout = 504
    case versionNotSupported = 505

    /// The text after the number in a status line.
    var phrase: String {
        switch self {
        case .ok: "OK"
        case .notModified: "Not Modified"
        case .permanentRedirect: "Permanent Redirect"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .conflict: "Conflict"
        case .contentTooLarge: "Content Too Large"
        case .targetTooLong: "URI Too Long"
        case .unsupportedMediaType: "Unsupported Media Type"
        case .expectationFailed: "Expectation Failed"
        case .misdirectedRequest: "Misdirected Request"
        case .unprocessableContent: "Unprocessable Content"
        case .upgradeRequired: "Upgrade Required"
        case .tooManyRequests: "Too Many Requests"
        case .headerFieldsTooLarge: "Request Header Fields Too Large"
        case .internalServerError: "Internal Server Error"
        case .notImplemented: "Not Implemented"
        case .serviceUnavailable: "Service Unavailable"
        case .gatewayTimeout: "Gateway Timeout"
        case .versionNotSupported: "HTTP Version Not Supported"
        }
    }
}

/// The name of a field that the API reads or writes.
enum FieldName: String, CaseIterable, Sendable {
    case accept = "Accept"
    case acceptEncoding = "Accept-Encoding"
    case accessControlAllowOrigin = "Access-Control-Allow-Origin"
    case allow = "Allow"
    case authorization = "Authorization"
    case cacheControl = "Cache-Control"
    case connection = "Connection"
    case contentEncoding = "Content-Encoding"
    case contentLength = "Content-Length"
    case contentSecurityPolicy = "Content-Security-Policy"
    case contentType = "Content-Type"
    case crossOriginOpenerPolicy = "Cross-Origin-Opener-Policy"
    case crossOriginResourcePolicy = "Cross-Origin-Resource-Policy"
    case date = "Date"
    case eTag = "ETag"
    case expect = "Expect"
    case host = "Host"
    case ifNoneMatch = "If-None-Match"
    case lastEventID = "Last-Event-ID"
    case location = "Location"
    case origin = "Origin"
    case referrerPolicy = "Referrer-Policy"
    case retryAfter = "Retry-After"
    case transferEncoding = "Transfer-Encoding"
    case upgrade = "Upgrade"
    case vary = "Vary"
    case wwwAuthenticate = "WWW-Authenticate"
    case xContentTypeOptions = "X-Content-Type-Options"

    private static let byBytes = Dictionary(
        uniqueKeysWithValues: allCases.map { (Array($0.rawValue.utf8).lowercasedASCII, $0) })

    /// The name that these bytes are, in any case of the letters; nil for every other name.
    init?(_ bytes: some Sequence<UInt8>) {
        guard let name = Self.byBytes[Array(bytes).lowercasedASCII] else { return nil }
        self = name
    }
}
