import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// Why a request has no response.
///
/// The text never contains the URL, which may contain a secret.
public enum OutgoingError: Error, Hashable {
    case cannotConnect(String)
    case noResponse(String)
    /// The timeout has passed, or the task was cancelled.
    case timedOut

    init(_ error: any Error) {
        switch error {
        case let error as NIOConnectionError:
            self = .cannotConnect(Self.reason(for: error))
        case let error as IOError:
            let isConnected = [ECONNRESET, EPIPE].contains(error.errnoCode)
            let reason = Self.reason(for: error)
            self = isConnected ? .noResponse(reason) : .cannotConnect(reason)
        case let error as HTTPClientError:
            self.init(error)
        case is CancellationError:
            self = .timedOut
        case let error as HTTPParserError:
            self = .noResponse("\(error)")
        default:
            // The remaining errors are those of TLS, such as an untrusted certificate.
            self = .cannotConnect("\(error)")
        }
    }

    private init(_ error: HTTPClientError) {
        switch error {
        case .connectTimeout: self = .cannotConnect("connection timed out")
        case .tlsHandshakeTimeout: self = .cannotConnect(error.shortDescription)
        case .deadlineExceeded, .cancelled: self = .timedOut
        default: self = .noResponse(error.shortDescription)
        }
    }

    /// The text for the log.
    public func text(timeoutSeconds: Int) -> String {
        switch self {
        case .cannotConnect(let why): "cannot connect: \(why)"
        case .noResponse(let why): "no response: \(why)"
        case .timedOut: "no response within \(timeoutSeconds) s"
        }
    }

    private static func reason(for error: NIOConnectionError) -> String {
        if error.dnsAError != nil || error.dnsAAAAError != nil, error.connectionErrors.isEmpty {
            return "unknown host"
        }
        let errors = error.connectionErrors.map { failure in
            (failure.error as? IOError).map { reason(for: $0) } ?? "\(failure.error)"
        }
        return errors.last ?? "host name lookup timed out"
    }

    /// The system's message alone, out of `connect: Connection refused) (errno: 111)`.
    private static func reason(for error: IOError) -> String {
        let message = error.description.split(separator: ": ", maxSplits: 1).last
        return String((message ?? "").prefix { $0 != ")" })
    }
}
