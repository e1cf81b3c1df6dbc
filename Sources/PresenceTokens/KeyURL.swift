import Containers
import HTTPValues
import OutgoingHTTP

/// The URL of a published key set.
public struct KeyURL: Hashable, Sendable {
    let url: OutgoingURL

    /// As it was written.
    public var text: String { url.text }

    /// Whether the text is meant as a URL, valid or not.
    public static func looksLikeURL(_ text: String) -> Bool {
        let text = ExactText(text).lowercasedASCII
        return text.hasPrefix("https://") || text.hasPrefix("http://")
    }

    /// A URL. It must be `https`, except for a host that is this machine: a third party on the
    /// network could replace the keys. It must not contain a password, since listings of settings
    /// show it.
    ///
    /// - Throws: what is wrong with it, as the end of a sentence.
    public init(_ text: String) throws(KeyURLError) {
        do throws(OutgoingURLError) {
            url = try OutgoingURL(text)
        } catch {
            throw KeyURLError(description: error.description)
        }
        guard url.isEncrypted || url.isOnThisMachine else {
            throw KeyURLError(
                description: "it must begin with https, unless it is on this machine")
        }
    }
}

/// Why the URL of a key set is not allowed.
public struct KeyURLError: Error, Hashable, CustomStringConvertible {
    /// The end of a sentence.
    public let description: String
}

/// Fetches keys over HTTP.
struct HTTPKeyFetcher: KeyFetcher {
    static let bytesMax = 1 << 19

    let url: KeyURL
    let http: OutgoingHTTP
    var timeoutSeconds = 5

    func fetch() async throws(KeyFetchError) -> [UInt8] {
        let request = OutgoingRequest(
            .get, url.url, headers: [("accept", "application/jwk-set+json, application/json")],
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
        precondition(response.body.count <= Self.bytesMax, "a longer response than requested")
        return response.body
    }
}
