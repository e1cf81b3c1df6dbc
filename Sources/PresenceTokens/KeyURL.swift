import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1

/// The URL of a published key set.
public struct KeyURL: Hashable, Sendable {
    /// As it was written.
    public let text: String

    /// Whether the text is meant as a URL, valid or not.
    public static func isMeant(by text: String) -> Bool {
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

/// Fetches keys over HTTP, with a client per fetch: there is one every few minutes.
struct HTTPKeyFetcher: KeyFetcher {
    static let bytesMax = 1 << 19

    private let url: KeyURL
    private let timeoutSeconds: Int64

    init(_ url: KeyURL, timeoutSeconds: Int64 = 5) {
        self.url = url
        self.timeoutSeconds = timeoutSeconds
    }

    func fetch() async throws(KeyFetchFault) -> [UInt8] {
        var configuration = HTTPClient.Configuration()
        // A redirect could lead to a URL that these rules do not allow.
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(timeoutSeconds)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<[UInt8], KeyFetchFault>
        do {
            result = .success(try await bodyInTime(client))
        } catch let fault as KeyFetchFault {
            result = .failure(fault)
        } catch {
            result = .failure(KeyFetchFault(description: "\(error)"))
        }
        try? await client.shutdown()
        return try result.get()
    }

    /// The client's own timeout ends with the head of the response; this one with its body.
    private func bodyInTime(_ client: HTTPClient) async throws -> [UInt8] {
        let answer = Task { try await body(client) }
        let deadline = Task {
            try await Task.sleep(for: .seconds(timeoutSeconds))
            answer.cancel()
        }
        defer { deadline.cancel() }
        do {
            return try await answer.value
        } catch is CancellationError {
            throw KeyFetchFault(description: "no response within \(timeoutSeconds) s")
        }
    }

    private func body(_ client: HTTPClient) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: url.text)
        request.headers.add(name: "accept", value: "application/jwk-set+json, application/json")
        let response = try await client.execute(request, timeout: .seconds(timeoutSeconds))
        guard response.status == .ok else {
            throw KeyFetchFault(description: "the response status is \(response.status.code)")
        }
        let buffer = try await response.body.collect(upTo: Self.bytesMax)
        return Array(buffer.readableBytesView)
    }
}
