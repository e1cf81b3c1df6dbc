import Containers
import Foundation
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import OutgoingHTTP

private let empty = Array("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".utf8)

@Suite struct `A request` {
    @Test func `is sent byte for byte, with nothing else`() async throws {
        let (requests, arrived) = AsyncStream<String>.makeStream()
        let peer = try LoopbackServer { connection in
            while let request = connection.request() {
                arrived.yield(request)
                connection.send("HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 0\r\n\r\n")
            }
        }
        defer { peer.stop() }
        let host = "Host: 127.0.0.1:\(peer.port)"
        // Above 1 MiB libcurl would ask first, with `Expect`.
        let large = ByteBuffer(repeating: 0x78, count: 1_100_000)
        try await withHTTP { http in
            for (method, body, length) in [
                (OutgoingRequest.Method.get, "", nil), (.post(ByteBuffer()), "", 0),
                (.post(ByteBuffer(string: "{\0}")), "{\0}", 3),
                (.post(large), String(buffer: large), large.readableBytes),
            ] {
                let result = try await http.result(
                    peer.url("/a/../b?x&y="), method, headers: [("One", "1"), ("Two", "")])
                #expect(result.error == nil)
                let verb = length == nil ? "GET" : "POST"
                let rest = length.map { "Content-Length: \($0)\r\n" } ?? ""
                let request = await requests.first { _ in true }
                let expected =
                    "\(verb) /a/../b?x&y= HTTP/1.1\r\n\(host)\r\nOne: 1\r\nTwo:\r\n\(rest)\r\n"
                #expect(request?.prefix(200) == (expected + body).prefix(200))
                #expect(request?.utf8.count == (expected + body).utf8.count)
            }
        }
        // One connection for all of them.
        #expect(peer.connections == 1)
    }

    @Test func `uses a new connection if the old one has ended`() async throws {
        let peer = try LoopbackServer(answering: empty)
        defer { peer.stop() }
        try await withHTTP { http in
            for _ in 0..<3 {
                let error = try await http.result(peer.url()).error
                #expect(error == nil)
            }
        }
        #expect(peer.connections == 3)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `does not follow redirects`(status: Int) async throws {
        let peer = try LoopbackServer { connection in
            while connection.request() != nil {
                connection.send(
                    "HTTP/1.1 \(status) There\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n")
            }
        }
        defer { peer.stop() }
        let response = try await withHTTP {
            try await $0.result(peer.url(), .post(ByteBuffer(string: "x"))).get()
        }
        #expect(response.status == status && response.header("Location") == "/x")
    }

    @Test func `has a response of bounded length`() async throws {
        let peer = try LoopbackServer { connection in
            guard connection.request() != nil else { return }
            connection.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
            // Without an end, until the client has enough.
            while connection.send("3\r\nabc\r\n") {}
        }
        defer { peer.stop() }
        for count in [0, 1, 100, 70_000] {
            let response = try await withHTTP {
                try await $0.result(peer.url(), responseBytesMax: count).get()
            }
            #expect(response.status == 200 && response.body.count == count && !response.isWhole)
        }
    }

    @Test func `has a response that is not decoded`() async throws {
        let head = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n"
        let peer = try LoopbackServer(answering: Array("\(head)abc".utf8))
        defer { peer.stop() }
        let response = try await withHTTP {
            try await $0.result(peer.url(), responseBytesMax: 3).get()
        }
        #expect(response.body == Array("abc".utf8) && response.isWhole)
    }

    @Test func `is not sent with a header that could be two`() async throws {
        let peer = try LoopbackServer(answering: empty)
        defer { peer.stop() }
        let result = try await withHTTP {
            try await $0.result(peer.url(), headers: [("a", "b\r\nc: d")])
        }
        #expect(result.error == .cannotSend("the header a is invalid"))
        #expect(peer.connections == 0)
    }
}

@Suite struct `What a server sends instead of a response` {
    @Test(arguments: [
        ("", "the connection was closed"),
        ("SSH-2.0-OpenSSH_9.2\r\n", "the response is not HTTP"),
        ("\r\n\r\n", "the response is not HTTP"),
        ("HTTP/1.1\r\n\r\n", "the response is not HTTP"),
        ("HTTP/1.1 nonsense\r\n\r\n", "the response is not HTTP"),
        ("HTTP/9.9 200 OK\r\n\r\n", "the response is not HTTP"),
        ("HTTP/1.1 2000 OK\r\n\r\n", "the response is not HTTP"),
        ("HTTP/1.1 100 Continue\r\n\r\n", nil), ("HTTP/1.1 101 Other\r\n\r\nabc", nil),
        ("HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nabc", "the response is not HTTP"),
        ("HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\nabc", "the response is not HTTP"),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc",
            "the connection was closed within the response"
        ),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", nil),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\n", nil),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", nil),
    ])
    func `is an error`(text: String, why: String?) async throws {
        let peer = try LoopbackServer(answering: Array(text.utf8))
        defer { peer.stop() }
        let error = try await withHTTP { try await $0.result(peer.url()).error }
        if let why { #expect(error == .noResponse(why)) }
        guard case .noResponse = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(arguments: ["http", "https"])
    func `may be a reset`(scheme: String) async throws {
        let peer = try LoopbackServer { connection in
            _ = connection.receive()
            connection.resetAtEnd()
        }
        defer { peer.stop() }
        let error = try await withHTTP { try await $0.result(peer.url(scheme: scheme)).error }
        let why = "Connection reset by peer"
        #expect(error == (scheme == "http" ? .noResponse(why) : .cannotConnect("TLS: \(why)")))
    }

    // At `::1`, which is tried first, the connection is rejected.
    @Test func `is not confused with an address that was tried before`() async throws {
        let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        let peer = try LoopbackServer(answering: Array("\(head)zz\r\n".utf8))
        defer { peer.stop() }
        let url = "http://localhost:\(peer.port)/"
        let error = try await withHTTP { try await $0.result(url).error }
        #expect(error == .noResponse("Failure when receiving data from the peer"))
    }

    @Test(arguments: ["a: b\r\n", "\r\nHTTP/1.1 100 Continue\r\n", "a"])
    func `is not read without an end`(part: String) async throws {
        let peer = try LoopbackServer { connection in
            guard connection.request() != nil else { return }
            connection.send("HTTP/1.1 100 Continue\r\n")
            let parts = Array(String(repeating: part, count: 1_000).utf8)
            while connection.send(parts) {}
        }
        defer { peer.stop() }
        let error = try await withHTTP { try await $0.result(peer.url()).error }
        let isLine = part.hasSuffix("\r\n")
        #expect(
            error
                == .noResponse(
                    isLine
                        ? "the response has more than 65536 bytes of headers"
                        : "a header is too long, or memory is short"))
    }

    @Test func `may be anything`() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let good = Array("HTTP/1.1 200 OK\r\ncontent-length: 3\r\na: b\r\n\r\nabc".utf8)
        try await withHTTP { http in
            for _ in 0..<200 {
                var answer = good
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let index = Int.random(in: 0..<answer.count, using: &random)
                    answer[index] = UInt8.random(in: 0...255, using: &random)
                }
                let peer = try LoopbackServer(answering: answer)
                _ = try await http.result(peer.url())
                peer.stop()
            }
        }
    }
}

@Suite struct `The end of a request` {
    private static let stalling = ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\n\r\nabc"]

    @Test(arguments: stalling)
    func `is its timeout`(text: String) async throws {
        let peer = try LoopbackServer(answering: Array(text.utf8), then: .stalls)
        defer { peer.stop() }
        let error = try await withHTTP {
            try await $0.result(peer.url(), timeoutSeconds: 1).error
        }
        #expect(error == .timedOut)
    }

    @Test(arguments: ["http", "https"])
    func `is that of its task, and its connection is closed`(scheme: String) async throws {
        let (events, happened) = AsyncStream<Bool>.makeStream()
        let peer = try LoopbackServer { connection in
            guard connection.receive() != nil else { return }
            happened.yield(true)
            connection.waitForEnd()
            happened.yield(false)
        }
        defer { peer.stop() }
        try await withHTTP { http in
            let url = peer.url(scheme: scheme)
            let task = Task { try await http.result(url).error }
            var next = events.makeAsyncIterator()
            #expect(await next.next() == true)
            task.cancel()
            let error = try await task.value
            #expect(error == .timedOut)
            #expect(await next.next() == false)
        }
    }

    @Test func `comes at once in a task that is cancelled`() async throws {
        let peer = try LoopbackServer(answering: [], then: .stalls)
        defer { peer.stop() }
        try await withHTTP { http in
            let url = peer.url()
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await http.result(url).error
            }
            let error = try await task.value
            #expect(error == .timedOut)
        }
    }

    @Test func `is that of the client, after which there are no others`() async throws {
        let (peer, events) = try silentPeer()
        defer { peer.stop() }
        try await withHTTP { http in
            async let error = http.result(peer.url()).error
            await events.first { true }
            await http.stop()
            let end = try await error
            #expect(end == .timedOut)
            let late = try await http.result(peer.url()).error
            #expect(late == .cannotSend("the service is shutting down"))
            await http.stop()
        }
    }

    @Test func `comes if TLS is not agreed on in the time to connect`() async throws {
        let peer = try LoopbackServer(answering: [], then: .stalls)
        defer { peer.stop() }
        let error = try await withHTTP(TransferRules(connectSecondsMax: 1)) {
            try await $0.result(peer.url(scheme: "https")).error
        }
        #expect(error == .cannotConnect("connection timed out"))
    }
}

@Suite struct `Many requests` {
    /// Holds answers until so many requests are there at once.
    private final class Gate: Sendable {
        private let condition = NSCondition()
        private let counts = Mutex((now: 0, most: 0))
        private let needed: Int

        init(_ needed: Int) { self.needed = needed }

        var most: Int { counts.withLock { $0.most } }

        func enter() {
            counts.withLock { counts in
                counts.now += 1
                counts.most = max(counts.most, counts.now)
            }
            condition.lock()
            condition.broadcast()
            while most < needed { condition.wait() }
            condition.unlock()
        }

        func leave() { counts.withLock { $0.now -= 1 } }
    }

    // The gate opens only when as many as are allowed are in flight.
    @Test(.timeLimit(.minutes(10)))
    func `are in flight at once, up to a limit`() async throws {
        let gate = Gate(8)
        let peer = try LoopbackServer { connection in
            while connection.request() != nil {
                gate.enter()
                gate.leave()
                connection.send(empty)
            }
        }
        defer { peer.stop() }
        var rules = TransferRules.patient
        rules.transfersMax = 8
        try await withHTTP(rules) { http in
            let url = peer.url()
            try await withThrowingTaskGroup { group in
                for _ in 0..<200 { group.addTask { try await http.result(url).error } }
                for try await error in group { #expect(error == nil) }
            }
        }
        #expect(gate.most == 8)
        #expect(peer.connections == 8)
    }

    @Test func `that wait for others can be cancelled, and have a timeout`() async throws {
        let (peer, events) = try silentPeer()
        defer { peer.stop() }
        var rules = TransferRules.patient
        rules.transfersMax = 1
        try await withHTTP(rules) { http in
            let url = peer.url()
            let first = Task { try await http.result(url).error }
            await events.first { true }
            let third = Task { try await http.result(url).error }
            third.cancel()
            let errors = [
                try await http.result(url, timeoutSeconds: 1).error, try await third.value,
            ]
            #expect(errors == [.timedOut, .timedOut])
            #expect(peer.connections == 1)
            first.cancel()
            let error = try await first.value
            #expect(error == .timedOut)
        }
    }
}
