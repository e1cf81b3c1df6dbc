// Why a request for a WebSocket is rejected, and the HTTP answer that says so. The texts are for
// people: a browser shows them in its network panel, and curl on the terminal.

/// Why an HTTP request on the clients' port is rejected.
public enum UpgradeError: Error, Hashable, CaseIterable, Sendable {
    /// It is not HTTP, or has what a request for a WebSocket must not have.
    case malformed
    /// It is not encrypted, and the port speaks TLS.
    case notEncrypted
    /// It has a body.
    case body
    /// `Host` is missing, appears twice, or is not a host.
    case host
    /// `Sec-WebSocket-Key` is missing or is not the base64 of 16 bytes.
    case key
    /// Only subprotocols that the service does not speak are offered.
    case subprotocol
    /// The path is that of XMPP, and its subprotocol is not offered.
    case subprotocolOfXMPP
    /// The page is not from an origin that the service accepts.
    case origin
    /// No such path.
    case path
    /// The method is not `GET`.
    case method
    /// The request was not complete in time.
    case timeout
    /// `Upgrade` or `Connection` does not ask for a WebSocket.
    case notAnUpgrade
    /// `Sec-WebSocket-Version` is not 13.
    case version
    /// The head of the request is too long, or has too many fields.
    case tooLarge
    /// The service is overloaded or shutting down.
    case unavailable
    /// Not HTTP/1.1.
    case httpVersion
}

extension UpgradeError {
    /// The status code.
    public var status: Int {
        switch self {
        case .malformed, .notEncrypted, .body, .host, .key, .subprotocol, .subprotocolOfXMPP: 400
        case .origin: 403
        case .path: 404
        case .method: 405
        case .timeout: 408
        case .notAnUpgrade, .version: 426
        case .tooLarge: 431
        case .unavailable: 503
        case .httpVersion: 505
        }
    }

    fileprivate var phrase: StaticString {
        switch status {
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 426: "Upgrade Required"
        case 431: "Request Header Fields Too Large"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Bad Request"
        }
    }

    /// What is wrong, and what would be right.
    fileprivate var sentence: StaticString {
        switch self {
        case .malformed: "The request is not valid HTTP/1.1."
        case .notEncrypted: "This port speaks TLS: connect with it, as wss does."
        case .body: "A request for a WebSocket has no body."
        case .host: "The request must have exactly one valid Host."
        case .key: "Sec-WebSocket-Key must be the base64 of 16 bytes."
        case .subprotocol: "The subprotocol is porchlight.v1; offer that one, or none."
        case .subprotocolOfXMPP:
            "This path speaks XMPP (RFC 7395): offer the subprotocol xmpp."
        case .origin: "Pages of this origin are not accepted: see the setting websocket-origins."
        case .path, .method:
            """
            This port speaks Porchlight's native protocol and WebSocket: GET /v1/socket. The HTTP \
            API has an address of its own: porchlight serve --http 127.0.0.1:7401
            """
        case .timeout: "The request was not complete in time."
        case .notAnUpgrade: "This path is a WebSocket: ask for it with Upgrade: websocket."
        case .version: "Sec-WebSocket-Version must be 13."
        case .tooLarge: "The request must have at most 8192 bytes and 64 fields."
        case .unavailable: "The service is overloaded or shutting down; reconnect later."
        case .httpVersion: "Only HTTP/1.1 is supported."
        }
    }

    /// Fields that say what would be right, and that the connection closes.
    fileprivate var fields: StaticString {
        switch self {
        case .method: "Allow: GET\r\nConnection: close\r\n"
        case .notAnUpgrade, .version:
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nConnection: close, Upgrade\r\n"
        default: "Connection: close\r\n"
        }
    }
}

extension [UInt8] {
    /// Appends the HTTP answer to a request that is rejected. The connection closes after it.
    public mutating func appendAnswer(_ error: UpgradeError) {
        append("HTTP/1.1 ", error.status)
        append(" ")
        append(error.phrase)
        append("\r\nContent-Type: text/plain; charset=utf-8\r\n")
        append("Content-Length: ", error.sentence.utf8CodeUnitCount + 1)
        append("\r\n")
        append(error.fields)
        append("\r\n")
        append(error.sentence)
        append("\n")
    }
}
