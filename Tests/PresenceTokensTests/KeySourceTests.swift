import Containers
import Logging
import PresenceCore
import Synchronization
import Testing

@testable import PresenceTokens

private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// A fetcher that does what a test says, when it says so.
private final class ScriptedFetcher: KeyFetcher {
    struct State {
        var answer: Result<[UInt8], KeyFetchError>
        var count = 0
        var isHeld = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let state: Mutex<State>
    /// The number of each fetch, as it begins.
    private let (fetches, begun) = AsyncStream<Int>.makeStream()

    init(_ answer: Result<[UInt8], KeyFetchError>) {
        state = Mutex(State(answer: answer))
    }

    func fetch() async throws(KeyFetchError) -> [UInt8] {
        await withCheckedContinuation { continuation in
            let (isHeld, count) = state.withLock { state in
                state.count += 1
                if state.isHeld { state.waiting.append(continuation) }
                return (state.isHeld, state.count)
            }
            begun.yield(count)
            if !isHeld { continuation.resume() }
        }
        return try state.withLock { $0.answer }.get()
    }

    var count: Int { state.withLock { $0.count } }

    /// Waits until the fetch with this number begins; for one test at a time.
    func waitForFetch(_ number: Int) async {
        for await count in fetches where count == number { return }
    }

    func answer(_ answer: Result<[UInt8], KeyFetchError>) {
        state.withLock { $0.answer = answer }
    }

    func release() {
        let waiting = state.withLock { state in
            defer { (state.waiting, state.isHeld) = ([], false) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

@Suite struct `Keys that are fetched` {
    static let down = KeyFetchError(description: "nobody answers")

    private func judge(_ fetcher: ScriptedFetcher) -> (TokenVerifier, KeySource) {
        let source = KeySource(fetcher, on: testLoop, logger: quiet)
        return (TokenVerifier(fetching: source, rules: TokenRules()), source)
    }

    @Test func `a new key is fetched, an unknown one is not fetched again`() async throws {
        let published = try await PublishedKeys(["one", "two"])
        let first = try await PublishedKeys(["one"])
        let fetcher = ScriptedFetcher(.success(first.json))
        let (verifier, _) = judge(fetcher)
        #expect(await verifier.error(try first.token("one")) == nil)
        #expect(fetcher.count == 1)
        fetcher.answer(.success(published.json))
        let two = try published.token("two")
        #expect(await verifier.error(two, at: now + 9_999) == .unknownKey)
        #expect(fetcher.count == 1)
        #expect(await verifier.error(two, at: now + 10_000) == nil)
        #expect(await verifier.error(try first.token("one"), at: now + 10_000) == .signature)
        #expect(await verifier.error(try published.token("one"), at: now + 10_000) == nil)
        #expect(fetcher.count == 2)
    }

    @Test func `a thousand unknown names cost one fetch in ten seconds`() async throws {
        let published = try await PublishedKeys(["one"])
        let fetcher = ScriptedFetcher(.success(published.json))
        let (verifier, _) = judge(fetcher)
        for number in 0..<1_000 {
            let token = try await token(
                header: #"{"alg":"EdDSA","kid":"\#(number)"}"#, TokenVerifierTests.good)
            let error = await verifier.error(token, at: now + Int64(number) * 30)
            #expect(error == .unknownKey)
        }
        #expect(fetcher.count == 3)
    }

    @Test func `concurrent tokens wait for one fetch`() async throws {
        let published = try await PublishedKeys(["one"])
        let fetcher = ScriptedFetcher(.success(published.json))
        fetcher.state.withLock { $0.isHeld = true }
        let (verifier, _) = judge(fetcher)
        let token = try published.token("one")
        await withTaskGroup { group in
            for _ in 0..<50 {
                group.addTask { #expect(await verifier.error(token) == nil) }
            }
            await fetcher.waitForFetch(1)
            fetcher.release()
        }
        #expect(fetcher.count == 1)
    }

    @Test func `the number of tokens that wait for a fetch is limited`() async throws {
        let fetcher = ScriptedFetcher(.failure(Self.down))
        fetcher.state.withLock { $0.isHeld = true }
        let (_, source) = judge(fetcher)
        await withTaskGroup { group in
            for _ in 0..<KeySource.waitersMax + 50 {
                group.addTask { #expect(await source.fetch(at: now) == .unknown) }
            }
            // The first fetches, a hundred wait for it, the rest do not.
            for _ in 0..<49 { _ = await group.next() }
            fetcher.release()
        }
        #expect(fetcher.count == 1)
    }

    @Test func `without a response known keys stay valid, and other tokens are not verified`()
        async throws
    {
        let published = try await PublishedKeys(["one", "two"])
        let fetcher = ScriptedFetcher(.failure(Self.down))
        let (verifier, source) = judge(fetcher)
        let one = try published.token("one")
        #expect(await verifier.error(one) == .keysUnavailable)
        #expect(await verifier.error(one, at: now + 1) == .keysUnavailable)
        #expect(fetcher.count == 1)
        fetcher.answer(.success(published.json))
        #expect(await source.refresh())
        fetcher.answer(.failure(Self.down))
        #expect(await source.refresh() == false)
        #expect(await verifier.error(one, at: now + 20_000) == nil)
        let other = try await PublishedKeys(["three"]).token("three")
        #expect(await verifier.error(other, at: now + 20_000) == .keysUnavailable)
    }

    @Test func `an invalid set does not replace a valid one`() async throws {
        let published = try await PublishedKeys(["one"])
        let fetcher = ScriptedFetcher(.success(published.json))
        let (verifier, source) = judge(fetcher)
        #expect(await source.refresh())
        for text in ["", "<html>", "{}", #"{"keys":[]}"#, #"{"keys":[{"kty":"EC"}]}"#] {
            fetcher.answer(.success(bytes(text)))
            #expect(await source.refresh() == false, "\(text)")
        }
        #expect(await verifier.error(try published.token("one")) == nil)
    }

    @Test func `a key that is withdrawn is not valid any more`() async throws {
        let published = try await PublishedKeys(["one"])
        let fetcher = ScriptedFetcher(.success(published.json))
        let (verifier, source) = judge(fetcher)
        #expect(await verifier.error(try published.token("one")) == nil)
        fetcher.answer(.success(try await PublishedKeys(["two"]).json))
        #expect(await source.refresh())
        #expect(await verifier.error(try published.token("one")) == .unknownKey)
    }

    @Test func `keys are fetched periodically`() async throws {
        let published = try await PublishedKeys(["one"])
        let fetcher = ScriptedFetcher(.success(published.json))
        let (_, source) = judge(fetcher)
        let task = try #require(source.keepFresh(every: .milliseconds(1)))
        await fetcher.waitForFetch(5)
        task.cancel()
        await task.value
    }

    @Test func `secrets and private keys that are published are not used`() async throws {
        let published = try await PublishedKeys(["one"])
        let rest = String(decoding: published.json.dropFirst(9), as: UTF8.self)
        let k = Base64URL.encoded(bytes(TestKeys.secret))
        let json =
            #"{"keys":[{"kty":"oct","kid":"s","k":"\#(k)"},"#
            + #"{"kty":"OKP","crv":"Ed25519","kid":"d","x":"AA","d":"AA"},"#
            + #"{"kty":"RSA","use":"enc"},{"kty":"AKP","alg":"ML-DSA-65"},"# + rest
        let keys = try await KeySet(fetched: bytes(json))
        #expect(keys.keys.map(\.kid) == ["one"])
        #expect(keys.skipped.count == 3)
    }

    static let oddKeys = [
        "7", "null", "[]", "{}", #"{"kid":"odd"}"#, #"{"kty":1,"kid":"odd"}"#,
        #"{"kty":"EC","kid":7}"#, #"{"kty":"EC","use":["sig"],"kid":"odd"}"#,
        #"{"kty":"RSA","alg":256,"kid":"odd"}"#, #"{"kty":"AKP","alg":"ML-DSA-65","kid":"odd"}"#,
        #"{"kty":"OKP","crv":"X25519","x":"AA","kid":"odd"}"#, #"{"kty":"RSA","kid":"odd"}"#,
        #"{"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":"odd"}"#,
        #"{"kty":"EC","crv":"P-521","kid":"odd"}"#, #"{"kty":"OKP","x":5,"kid":"odd"}"#,
    ]

    @Test(arguments: oddKeys)
    func `an odd key of a set leaves the others usable`(odd: String) async throws {
        let published = try await PublishedKeys(["one", "two"])
        let rest = String(decoding: published.json.dropFirst(9), as: UTF8.self)
        let json = bytes(#"{"keys":[\#(odd),"# + rest)
        for keys in [try await KeySet(fetched: json), try await KeySet(file: json)] {
            #expect(keys.keys.map(\.kid) == ["one", "two"])
            #expect(keys.skipped.count == 1)
            let name = odd.contains(#""kid":"odd""#) ? "key 1 (odd) " : "key 1 "
            #expect(keys.skipped.first?.hasPrefix(name) == true)
        }
    }
}

@Suite struct `Keys at a URL` {
    func source(_ server: HTTPServer) throws -> KeySource {
        let url = try KeyURL("http://127.0.0.1:\(server.port)/jwks.json")
        return KeySource(url: url, over: testHTTP, logger: quiet)
    }

    @Test func `are fetched, changed and kept`() async throws {
        let old = try await PublishedKeys(["old"])
        let new = try await PublishedKeys(["new"])
        let server = try HTTPServer(old.json)
        let source = try source(server)
        let verifier = TokenVerifier(fetching: source, rules: TokenRules())
        #expect(await verifier.error(try old.token("old")) == nil)
        server.change { $0.body = new.json }
        #expect(await verifier.error(try new.token("new"), at: now + 20_000) == nil)
        #expect(server.requests == 2)
        server.stop()
        #expect(await source.refresh() == false)
        #expect(await verifier.error(try new.token("new"), at: now + 20_000) == nil)
    }

    @Test(arguments: [
        "404 Not Found", "500 Oops", "302 Found", "204 No Content", "nonsense",
    ])
    func `are not taken from another response`(status: String) async throws {
        let server = try HTTPServer(try await PublishedKeys(["one"]).json)
        defer { server.stop() }
        server.change { page in
            page.status = status
            page.headers = "location: /elsewhere\r\n"
        }
        #expect(try await source(server).refresh() == false)
        #expect(server.requests == 1)
    }

    @Test func `are fetched with a timeout`() async throws {
        let server = try HTTPServer(try await PublishedKeys(["one"]).json)
        defer { server.stop() }
        server.change { $0.stalls = true }
        let url = try KeyURL("http://127.0.0.1:\(server.port)/jwks.json")
        let fetcher = HTTPKeyFetcher(
            url: url, http: testHTTP, timeoutSeconds: 1)
        let error = await #expect(throws: KeyFetchError.self) { try await fetcher.fetch() }
        #expect(error?.description == "no response within 1 s")
    }

    @Test func `are read up to a limit`() async throws {
        let server = try HTTPServer(Array(repeating: 0x20, count: HTTPKeyFetcher.bytesMax + 1))
        defer { server.stop() }
        #expect(try await source(server).refresh() == false)
    }

    @Test func `are fetched over https, or from this machine`() {
        for text in ["https://a.example/jwks", "http://localhost:8/x", "http://[::1]:8/x"] {
            #expect(throws: Never.self, "\(text)") { try KeyURL(text) }
            #expect(KeyURL.looksLikeURL(text))
        }
        let rejected = [
            "http://a.example/jwks", "http://127.0.0.1.example/", "https://", "file:///x",
            "https://user:password@a.example/jwks", "https://user@a.example/jwks",
            "https://a.example/?a[]=1", "https://a.example/caf%E9",
        ]
        for text in rejected {
            #expect(throws: KeyURLError.self, "\(text)") { try KeyURL(text) }
        }
    }
}
