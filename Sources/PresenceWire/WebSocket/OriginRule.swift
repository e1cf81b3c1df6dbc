// Browsers name the origin of the page in a request for a WebSocket, and let any page make one. The
// service has no cookies, and the token is in the first message: a foreign page has nothing that it
// could misuse. So every origin is accepted, unless the operator lists those that are.
//
// Without authentication (`--auth open`) the service trusts what reaches its loopback address. A
// foreign page in a browser of this machine reaches it, too: then only pages from this machine are
// accepted.

/// Which pages may open a WebSocket. A request without an origin is not a page's.
public enum OriginRule: Hashable, Sendable {
    /// All.
    case any
    /// Pages that were loaded from this machine.
    case loopback
    /// Pages of these origins, such as `https://app.example.com`.
    case listed(Set<[UInt8]>)

    /// Whether a request may become a WebSocket.
    public func accepts(_ origin: [UInt8]?) -> Bool {
        guard let origin else { return true }
        return switch self {
        case .any: true
        case .loopback: Self.isLoopback(String(decoding: origin, as: UTF8.self))
        case .listed(let origins): origins.contains(origin)
        }
    }

    /// Whether an origin is `SCHEME://HOST` or `SCHEME://HOST:PORT` with a host of this machine.
    private static func isLoopback(_ origin: String) -> Bool {
        guard let match = origin.wholeMatch(of: /https?:\/\/(\[[0-9a-f:]+\]|[^:\/]+)(:[0-9]+)?/)
        else { return false }
        return switch match.1 {
        case "localhost", "[::1]": true
        case let host:
            host.wholeMatch(of: /127(\.[0-9]{1,3}){3}/) != nil
        }
    }
}
