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
    case noAnswer(String)
    /// The timeout has passed, or the task was cancelled.
    case late

    init(_ error: any Error) {
        switch error {
        case let error as NIOConnectionError:
            self = .cannotConnect(Self.words(for: error))
        case let error as IOError:
            let isConnected = [ECONNRESET, EPIPE].contains(error.errnoCode)
            let words = Self.words(for: error)
            self = isConnected ? .noAnswer(words) : .cannotConnect(words)
        case let error as HTTPClientError:
            self.init(error)
        case is CancellationError:
            self = .late
        case let error as HTTPParserError:
            self = .noAnswer("\(error)")
        default:
            // The remaining errors are those of TLS, such as an untrusted certificate.
            self = .cannotConnect("\(error)")
        }
    }

    private init(_ error: HTTPClientError) {
        switch error {
        case .connectTimeout: self = .cannotConnect("connection timed out")
        case .tlsHandshakeTimeout: self = .cannotConnect(error.shortDescription)
        case .deadlineExceeded, .cancelled: self = .late
        default: self = .noAnswer(error.shortDescription)
        }
    }

    /// The text for the log.
    public func words(timeoutSeconds: Int) -> String {
        switch self {
        case .cannotConnect(let why): "cannot connect: \(why)"
        case .noAnswer(let why): "no response: \(why)"
        case .late: "no response within \(timeoutSeconds) s"
        }
    }

    private static func words(for error: NIOConnectionError) -> String {
        if error.dnsAError != nil || error.dnsAAAAError != nil, error.connectionErrors.isEmpty {
            return "unknown host"
        }
        let errors = error.connectionErrors.map { failure in
            (failure.error as? IOError).map { words(for: $0) } ?? "\(failure.error)"
        }
        return errors.last ?? "host name lookup timed out"
    }

    /// The system's message alone, out of `connect: Connection refused) (errno: 111)`.
    private static func words(for error: IOError) -> String {
        let words = error.description.split(separator: ": ", maxSplits: 1).last
        return String((words ?? "").prefix { $0 != ")" })
    }
}
