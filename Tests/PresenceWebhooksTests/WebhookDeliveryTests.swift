import Containers
import Foundation
import NIOCore
import NIOPosix
import OutgoingHTTP
import TaskLoops
import Testing

@testable import PresenceWebhooks

/// A receiver on this machine that answers the first connection as it is told.
private struct Receiver {
    let port: UInt16
    private let listener: CInt

    /// Takes no connection yet.
    init() throws {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(listener, name, length) == 0
                    && getsockname(listener, name, &length) == 0
            }
        }
        try #require(isBound)
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Answers one connection, and returns the first line of its request. It listens when this
    /// returns.
    func firstLine() throws -> Task<String, Never> {
        try #require(listen(listener, 1) == 0)
        let lines = AsyncStream<String> { result in
            Thread { [listener] in
                let connection = accept(listener, nil, nil)
                var buffer = [UInt8](repeating: 0, count: 8_192)
                let count = connection < 0 ? 0 : max(0, recv(connection, &buffer, buffer.count, 0))
                let answer = Array("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".utf8)
                _ = send(connection, answer, answer.count, CInt(MSG_NOSIGNAL))
                Foundation.close(connection)
                let text = String(decoding: buffer[..<count], as: UTF8.self)
                result.yield(text.components(separatedBy: "\r\n")[0])
                result.finish()
            }.start()
        }
        return Task { await lines.first { _ in true } ?? "" }
    }

    /// Sends so much of an answer, and then nothing more.
    func answer(_ text: String, then end: End) throws {
        try #require(listen(listener, 1) == 0)
        Thread { [listener] in
            let connection = accept(listener, nil, nil)
            var buffer = [UInt8](repeating: 0, count: 4_096)
            guard connection >= 0, recv(connection, &buffer, buffer.count, 0) > 0 else { return }
            let bytes = Array(text.utf8)
            _ = send(connection, bytes, bytes.count, CInt(MSG_NOSIGNAL))
            if end == .stalls { while recv(connection, &buffer, buffer.count, 0) > 0 {} }
            Foundation.close(connection)
        }.start()
    }

    /// How an answer ends: the connection is closed, or waits until the sender gives up.
    enum End { case closes, stalls }

    func close() { Foundation.close(listener) }
}

@Suite struct `A webhook delivery` {
    private func attempt(to url: String, timeoutSeconds: Int = 3_600) async throws
        -> DeliveryOutcome
    {
        let loop = TaskLoop(MultiThreadedEventLoopGroup.singleton.next())
        let http = OutgoingHTTP(on: loop, connectSecondsMax: 3_600)
        let outcome = await HTTPDelivery(http: http).attempt(
            ByteBuffer(string: "{}"), to: try OutgoingURL(url), headers: [],
            timeoutSeconds: timeoutSeconds)
        await http.stop()
        return outcome
    }

    @Test func `is posted to the bytes of its URL`() async throws {
        let targets =
            [
                "/", "/a", "/a/", "//a//b/", "/a/../b/./c", "/?", "/a?", "/a?x=y&z",
                "/?q=ab%2Bcd+e",
                "/caf%C3%A9/in", "/%e2%82%ac", "/a%2Fb%3Fc%23d%25", "/?q=%E9%FF%00",
                "/a;b=c,d/@x:y",
                "/-._~!$&'()*+,;=:@", "/?-._~!$&'()*+,;=:@/?", "/%7Ea?%7e", "/?x%5B%5D=p&token=%2B",
                "/a?b?c//d", "/0", "/?%25zz",
            ] + randomTargets(seed: 7, count: 60)
        for target in targets {
            let receiver = try Receiver()
            defer { receiver.close() }
            let url = "http://127.0.0.1:\(receiver.port)\(target)"
            let line = try receiver.firstLine()
            let outcome = try await attempt(to: url)
            #expect(outcome.isAccepted, "\(target): \(outcome)")
            // Without a connection there is no line.
            guard outcome.isAccepted else { return }
            #expect(await line.value == "POST \(target) HTTP/1.1")
        }
    }

    private func randomTargets(seed: UInt64, count: Int) -> [String] {
        var random = SplitMix64(seed: seed)
        let escapes = ["%41", "%2f", "%C3%A9", "%5B"]
        let letters = Array("ab0-._~!$&'()*+,;=:@/?%".utf8).map { String(UnicodeScalar($0)) }
        return (0..<count).map { _ in
            (0..<Int.random(in: 0...20, using: &random)).reduce(into: "/") { text, _ in
                let letter = letters.randomElement(using: &random) ?? "a"
                guard letter == "%" else { return text += letter }
                text += escapes.randomElement(using: &random) ?? ""
            }
        }
    }

    @Test func `has a timeout`() async throws {
        let receiver = try Receiver()
        defer { receiver.close() }
        try receiver.answer("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx", then: .stalls)
        let outcome = try await attempt(to: "http://127.0.0.1:\(receiver.port)/", timeoutSeconds: 1)
        #expect(outcome == .noResponse("no response within 1 s"))
        #expect(!outcome.isAccepted)
    }

    @Test func `reads Retry-After`() async throws {
        let receiver = try Receiver()
        defer { receiver.close() }
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        try receiver.answer(
            "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nretry-after: \(date)\r\n\r\n", then: .closes)
        let outcome = try await attempt(to: "http://127.0.0.1:\(receiver.port)/")
        #expect(outcome == .response(status: 503, .at(784_111_777)))
    }

    // A client that tried by itself would do so for an hour.
    @Test(.timeLimit(.minutes(10)), arguments: ["127.0.0.1", "localhost"])
    func `fails immediately if the connection is refused`(host: String) async throws {
        let receiver = try Receiver()
        defer { receiver.close() }
        let outcome = try await attempt(to: "http://\(host):\(receiver.port)/")
        #expect(outcome == .noResponse("cannot connect: Connection refused"))
    }

    @Test func `fails with an unknown host`() async throws {
        let outcome = try await attempt(to: "http://nowhere.invalid/")
        #expect(outcome == .noResponse("cannot connect: unknown host"))
    }

    @Test func `fails if the connection is closed without a response`() async throws {
        let receiver = try Receiver()
        defer { receiver.close() }
        try receiver.answer("", then: .closes)
        let reason = try await attempt(to: "http://127.0.0.1:\(receiver.port)/").failureReason
        #expect(reason.hasPrefix("no response: "), "\(reason)")
    }

    @Test func `fails if the receiver does not support TLS`() async throws {
        let receiver = try Receiver()
        defer { receiver.close() }
        try receiver.answer("HTTP/1.1 400 Bad Request\r\n\r\n", then: .stalls)
        let reason = try await attempt(to: "https://127.0.0.1:\(receiver.port)/").failureReason
        #expect(reason.hasPrefix("cannot connect: "), "\(reason)")
    }
}
