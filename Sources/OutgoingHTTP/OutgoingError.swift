import CCurl
import Glibc

/// Why a request has no response.
///
/// The text never contains the URL, which may contain a secret.
public enum OutgoingError: Error, Hashable {
    case cannotSend(String)
    case cannotConnect(String)
    case noResponse(String)
    /// The timeout has passed, or the task was cancelled.
    case timedOut

    static let outOfMemory = cannotSend("memory or descriptors are short")
    static let malformedResponse = noResponse("the response is not HTTP")

    /// The text for the log.
    public func text(timeoutSeconds: Int) -> String {
        switch self {
        case .cannotSend(let why): "cannot send: \(why)"
        case .cannotConnect(let why): "cannot connect: \(why)"
        case .noResponse(let why): "no response: \(why)"
        case .timedOut: "no response within \(timeoutSeconds) s"
        }
    }
}

// MARK: - Of libcurl

extension OutgoingError {
    /// What a transfer that has failed is called.
    init(_ ending: TransferEnding) {
        if ending.proxyStatus != 0, ending.proxyStatus != 200 {
            self = .cannotConnect("the proxy's response has the status \(ending.proxyStatus)")
            return
        }
        switch ending.code {
        case CURLE_COULDNT_RESOLVE_HOST: self = .cannotConnect("unknown host")
        case CURLE_COULDNT_RESOLVE_PROXY: self = .cannotConnect("unknown proxy host")
        case CURLE_COULDNT_CONNECT: self = .cannotConnect(ending.connectText)
        // The timeout of the whole request is not libcurl's.
        case CURLE_OPERATION_TIMEDOUT:
            self = .cannotConnect(
                ending.hasFoundName ? "connection timed out" : "host name lookup timed out")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_USE_SSL_FAILED:
            self = .cannotConnect(ending.tlsText)
        case CURLE_PROXY, CURLE_URL_MALFORMAT, CURLE_FAILED_INIT:
            self = .cannotConnect(Self.text(of: ending.code))
        case CURLE_OUT_OF_MEMORY, ccurl_too_large:
            self = .noResponse("a header is too long, or memory is short")
        case CURLE_GOT_NOTHING: self = .noResponse("the connection was closed")
        case CURLE_PARTIAL_FILE:
            self = .noResponse("the connection was closed within the response")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY: self = .malformedResponse
        default: self = .noResponse(ending.socketText)
        }
    }

    /// What libcurl calls an error.
    static func text(of code: CURLcode) -> String {
        unsafe String(cString: curl_easy_strerror(code))
    }
}

extension TransferEnding {
    /// Why there is no connection: the system's message if there is one, else libcurl's.
    fileprivate var connectText: String {
        systemError == 0
            ? OutgoingError.text(of: code) : unsafe String(cString: strerror(systemError))
    }

    /// Why a connection has failed: the system's message if there is one, else libcurl's. Not
    /// `systemError`, which may be that of an address that was tried before.
    fileprivate var socketText: String {
        for kind in ["Recv failure: ", "Send failure: "] where message.hasPrefix(kind) {
            return String(message.dropFirst(kind.count))
        }
        return OutgoingError.text(of: code)
    }

    /// What is wrong with TLS, without the host that libcurl's message has in it.
    fileprivate var tlsText: String {
        let untrusted = "SSL certificate problem: "
        if message.hasPrefix(untrusted) {
            return "the certificate is not trusted: \(message.dropFirst(untrusted.count))"
        }
        if code == CURLE_PEER_FAILED_VERIFICATION { return "the certificate is for another host" }
        // `OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number`.
        let reason =
            message.contains(": error:") ? message.split(separator: ":").last ?? "" : ""
        // By version of OpenSSL.
        if message.contains("SSL_ERROR_SYSCALL") || reason == "unexpected eof while reading" {
            return "TLS: the connection was closed"
        }
        return "TLS: \(reason.isEmpty ? socketText : String(reason))"
    }
}
