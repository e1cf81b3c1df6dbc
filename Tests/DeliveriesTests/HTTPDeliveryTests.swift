import Containers
import Deliveries
import Foundation
import HTTPValues
import NIOCore
import NIOPosix
import OutgoingHTTP
import TaskLoops
import TestSupport
import Testing

@Suite struct `A delivery` {
    private func attempt(to url: String, timeoutSeconds: Int = 3_600) async throws
        -> DeliveryOutcome
    {
        let loop = TaskLoop(MultiThreadedEventLoopGroup.singleton.next())
        let http = OutgoingHTTP(on: loop, connectSecondsMax: 3_600)
        let outcome = await HTTPDelivery(http: http).attempt(
            DeliveryRequest(ByteBuffer(string: "{}"), to: try OutgoingURL(url), headers: []),
            timeoutSeconds: timeoutSeconds)
        await http.stop()
        return outcome
    }

    @Test func `is posted to the bytes of its URL`() async throws {
        let targets =
            [
                "/", "/a", "/a/", "//a//b/", "/a/../b/./c", "/a?x=y&z",
                "/?q=ab%2Bcd+e",
                "/caf%C3%A9/in", "/%e2%82%ac", "/a%2Fb%3Fc%23d%25", "/?q=%E9%FF%00",
                "/a;b=c,d/@x:y",
                "/-._~!$&'()*+,;=:@", "/?-._~!$&'()*+,;=:@/?", "/%7Ea?%7e", "/?x%5B%5D=p&token=%2B",
                "/a?b?c//d", "/0", "/?%25zz",
            ] + randomTargets(seed: 7, count: 60)
        let (requests, arrived) = AsyncStream<String>.makeStream()
        let receiver = try LoopbackServer { connection in
            guard let request = connection.request() else { return }
            arrived.yield(request)
            connection.send("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        }
        defer { receiver.stop() }
        var received = requests.makeAsyncIterator()
        for target in targets {
            let outcome = try await attempt(to: "http://127.0.0.1:\(receiver.port)\(target)")
            #expect(outcome.isAccepted, "\(target): \(outcome)")
            // Without a connection there is no request.
            guard outcome.isAccepted else { return }
            let line = await received.next()?.components(separatedBy: "\r\n")[0]
            #expect(line == "POST \(target) HTTP/1.1")
        }
    }

    private func randomTargets(seed: UInt64, count: Int) -> [String] {
        var random = SplitMix64(seed: seed)
        let escapes = ["%41", "%2f", "%C3%A9", "%5B"]
        let letters = Array("ab0-._~!$&'()*+,;=:@/?%".utf8).map { String(UnicodeScalar($0)) }
        let targets = (0..<count).map { _ in
            (0..<Int.random(in: 0...20, using: &random)).reduce(into: "/") { text, _ in
                let letter = letters.randomElement(using: &random) ?? "a"
                guard letter == "%" else { return text += letter }
                text += escapes.randomElement(using: &random) ?? ""
            }
        }
        // An empty query is rejected.
        return targets.filter { $0.firstIndex(of: "?") != $0.indices.last }
    }

    @Test func `has a timeout`() async throws {
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx"
        let receiver = try LoopbackServer(answering: Array(answer.utf8), then: .stalls)
        defer { receiver.stop() }
        let outcome = try await attempt(to: "http://127.0.0.1:\(receiver.port)/", timeoutSeconds: 1)
        #expect(outcome == .noResponse("no response within 1 s"))
        #expect(!outcome.isAccepted)
    }

    @Test func `reads Retry-After`() async throws {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let answer = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nretry-after: \(date)\r\n\r\n"
        let receiver = try LoopbackServer(answering: Array(answer.utf8), then: .closes)
        defer { receiver.stop() }
        let outcome = try await attempt(to: "http://127.0.0.1:\(receiver.port)/")
        #expect(outcome == .response(status: 503, .at(784_111_777)))
    }

    // A client that tried by itself would do so for an hour.
    @Test(.timeLimit(.minutes(10)), arguments: ["127.0.0.1", "localhost"])
    func `fails immediately if the connection is rejected`(host: String) async throws {
        let closed = try LoopbackListener(listens: false)
        defer { closed.close() }
        let outcome = try await attempt(to: "http://\(host):\(closed.port)/")
        #expect(outcome == .noResponse("cannot connect: Connection refused"))
    }

    @Test func `fails with an unknown host`() async throws {
        let outcome = try await attempt(to: "http://nowhere.invalid/")
        #expect(outcome == .noResponse("cannot connect: unknown host"))
    }

    @Test func `fails if the connection is closed without a response`() async throws {
        let answer = ""
        let receiver = try LoopbackServer(answering: Array(answer.utf8), then: .closes)
        defer { receiver.stop() }
        let reason = try await attempt(to: "http://127.0.0.1:\(receiver.port)/").failureReason
        #expect(reason.hasPrefix("no response: "), "\(reason)")
    }

    @Test func `fails if the receiver does not support TLS`() async throws {
        let answer = "HTTP/1.1 400 Bad Request\r\n\r\n"
        let receiver = try LoopbackServer(answering: Array(answer.utf8), then: .stalls)
        defer { receiver.stop() }
        let reason = try await attempt(to: "https://127.0.0.1:\(receiver.port)/").failureReason
        #expect(reason.hasPrefix("cannot connect: "), "\(reason)")
    }
}
