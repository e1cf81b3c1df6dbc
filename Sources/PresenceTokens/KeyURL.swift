import FoundationEssentials
import NIOCore
import OutgoingHTTP

/// The URL of a published key set.
public struct KeyURL: Hashable, Sendable {
    /// As it was written.
    public let text: String

    /// Whether the text is meant as a URL, valid or not.
    public static func looksLikeURL(_ text: String) -> Bool {
        text.hasPrefix("https://") || text.hasPrefix("http://")
    }

    /// A URL; nil if it is not one, or if a third party on the network could replace the keys: it
    /// must be `https`, except for a host that is this machine. It must not contain a password,
    /// since listings of settings show it.
    public init?(_ text: String) {
        guard let url = URL(string: text), let host = url.host(), !host.isEmpty,
            url.user() == nil, url.password() == nil,
            url.port.map({ 1...65_535 ~= $0 }) ?? true
        else { return nil }
        let isHere = ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host)
        guard url.scheme == "https" || url.scheme == "http" && isHere else { return nil }
        self.text = text
    }
}

/// Fetches keys over HTTP.
struct HTTPKeyFetcher: KeyFetcher {
    static let bytesMax = 1 << 19

    let url: KeyURL
    let http: OutgoingHTTP
    var timeoutSeconds = 5

    func fetch() async throws(KeyFetchError) -> [UInt8] {
        let request = OutgoingRequest(
            "GET", url.text, headers: [("accept", "application/jwk-set+json, application/json")],
            timeoutSeconds: timeoutSeconds, responseBytesMax: Self.bytesMax)
        let response: OutgoingResponse
        do {
            response = try await http.send(request)
        } catch {
            throw KeyFetchError(description: error.text(timeoutSeconds: timeoutSeconds))
        }
        guard response.status == 200 else {
            throw KeyFetchError(description: "the response status is \(response.status)")
        }
        guard response.isWhole else {
            throw KeyFetchError(description: "the response has more than \(Self.bytesMax) bytes")
        }
        return Array(response.body.readableBytesView)
    }
}
