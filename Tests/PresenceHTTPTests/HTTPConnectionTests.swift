import NIOCore
import NIOEmbedded
import PresenceGateway
import PresenceTokens
import Synchronization
import Testing

@testable import PresenceHTTP

/// What a connection does with what it is sent, and when it ends.
@Suite struct `A connection to HTTP` {
    private let loop = EmbeddedEventLoop()
    private let shared: HTTPConnection.Shared

    init() {
        var limits = HTTPLimits()
        // One of an address; and as long as there is one, it need not end after a response.
        limits.connectionsMax = 2
        shared = HTTPConnection.Shared(
            API(
                gateway: Gateway(on: loop, to: ServiceReference()),
                access: .keysOrLocal(KeyRing([])), limits: limits, counters: HTTPCounters(),
                readiness: Readiness(), date: DateField { 0 }, console: nil, version: "1",
                story: { _ in [] }, certificates: nil, isResponsive: { true }), on: loop)
    }

    private func connect(through kernel: Kernel = Kernel()) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.pipeline.syncOperations.addHandlers([kernel, HTTPConnection(shared)])
        return channel
    }

    private func send(_ text: String, _ channel: EmbeddedChannel) throws {
        try channel.writeInbound(ByteBuffer(string: text))
        loop.run()
    }

    /// Everything that was written.
    private func received(_ channel: EmbeddedChannel) throws -> String {
        var text = ""
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) {
            text += String(buffer: bytes)
        }
        return text
    }

    private func statuses(_ channel: EmbeddedChannel) throws -> [String] {
        try received(channel).split(separator: "HTTP/1.1 ").map { String($0.prefix(3)) }
    }

    @Test func `keeps nothing of what it has read`() throws {
        let channel = EmbeddedChannel(loop: loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let connection = HTTPConnection(shared)
        try channel.pipeline.syncOperations.addHandler(connection)
        let request = "GET /livez HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 8_000))"
        try send(request, channel)
        for _ in 0..<200 {
            // The end of a request, and the next one but its end.
            try send("\r\n\r\n" + request, channel)
            #expect(try statuses(channel) == ["200"])
        }
        #expect(connection.input.bytes.capacity < 50_000)
    }

    @Test func `reads many short chunks in turns, as long as they are`() throws {
        let channel = try connect()
        let chunks = String(repeating: "1\r\nx\r\n", count: 1_000)
        try send(
            "POST /none HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)",
            channel)
        try send("0\r\n\r\n", channel)
        #expect(try received(channel).isEmpty)
        for _ in 0..<20 { loop.advanceTime(by: .milliseconds(1)) }
        #expect(try statuses(channel) == ["404"])
    }

    private static let line = "GET /livez HTTP/1.1\r\nHost: a\r\n"

    @Test(arguments: [
        ("GET http://localhost/livez HTTP/1.1\r\nHost: a b\r\n\r\n", "400"),
        ("GET http://localhost/livez HTTP/1.1\r\nHost: a\r\n\r\n", "200"),
        (
            "\(Self.line)Connection: \(String(repeating: "a,", count: 99))\r\n\r\n",
            "200"
        ),
        (
            "\(Self.line)Connection: \(String(repeating: "a,", count: 100))\r\n\r\n",
            "400"
        ),
        ("GET /livez?\(String(repeating: "&a", count: 1_000)) HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
    ])
    func `answers a request at the limits of what it may cost`(text: String, status: String) throws
    {
        let channel = try connect()
        try send(text, channel)
        #expect(try statuses(channel) == [status])
    }

    private static let request = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func `is closed for a newer one while it is silent, or sends a request`() throws {
        let silent = try connect()
        let halfway = try connect()
        #expect(!silent.isActive && halfway.isActive)
        try send("GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", halfway)
        let next = try connect()
        #expect(!halfway.isActive && next.isActive)
    }

    @Test func `stays while its request is being answered`() throws {
        let busy = try connect()
        // Not run: the response is not written.
        try busy.writeInbound(ByteBuffer(string: Self.request))
        let next = try connect()
        #expect(busy.isActive && !next.isActive)
        loop.run()
        let other = try connect()
        #expect(!busy.isActive && other.isActive)
    }

    @Test func `is not busy for good when it was answered before its request ended`() throws {
        let early = try connect()
        try send(
            "POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n",
            early)
        #expect(try statuses(early) == ["405"])
        let next = try connect()
        #expect(!early.isActive && next.isActive)
    }

    @Test func `answers what it is sent at once, one after the other`() throws {
        let channel = try connect()
        let more = Self.request + "GET /x HTTP/1.1\r\nHost: a\r\n\r\n"
        try send(more + more + String(Self.request.dropLast()), channel)
        loop.advanceTime(by: .milliseconds(1))
        #expect(try statuses(channel) == ["200", "404", "200", "404"])
        try send("\n", channel)
        #expect(try statuses(channel) == ["200"])
    }

    @Test func `leaves the rest of many requests for other turns`() throws {
        let channel = try connect()
        try send(String(repeating: Self.request, count: 20), channel)
        #expect(try statuses(channel).count == 1)
        loop.advanceTime(by: .milliseconds(1))
        #expect(try statuses(channel).count == 8)
        loop.advanceTime(by: .milliseconds(1))
        #expect(try statuses(channel).count == 8)
        loop.advanceTime(by: .milliseconds(1))
        #expect(try statuses(channel).count == 3)
        try send(Self.request, channel)
        #expect(try statuses(channel).count == 1)
    }

    @Test func `writes no further response to a client that does not read`() throws {
        let channel = try connect()
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        try send(Self.request, channel)
        #expect(try statuses(channel) == [])
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        loop.run()
        #expect(try statuses(channel) == ["200"])
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        loop.advanceTime(by: .seconds(15))
        #expect(!channel.isActive)
    }

    @Test(arguments: [
        "GET /livez HTTP/1.0\r\n\r\n", "GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: TE, Close\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: x\r\nConnection: close\r\n\r\n",
        "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /livez HTTP/1.1\r\n\r\n",
        "POST /v1/states HTTP/1.1\r\nHost: 1.1.1.1\r\nContent-Type: application/json\r\n"
            + "Content-Length: 262145\r\n\r\n",
    ])
    func `ends after such a request`(text: String) throws {
        let channel = try connect()
        try send(text + Self.request, channel)
        let response = try received(channel)
        #expect(response.split(separator: "HTTP/1.1 ").count == 1)
        #expect(response.contains("\r\nConnection: close\r\n"))
        #expect(!response.contains("Transfer-Encoding"))
        loop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test(arguments: [
        ("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "200"),
        ("HEAD /livez HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n", "200"),
        ("GET /livez HTTP/1.1\r\nHost: [evil.com]\r\n\r\n", "400"),
        ("GET /v1/stats HTTP/1.1\r\nHost: a\r\n\r\n", "421"),
        ("GET http://a/v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n", "421"),
        ("GET http:///livez HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"),
        ("GET livez HTTP/1.1\r\nHost: a\r\n\r\n", "400"),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "405"),
        ("BREW /livez HTTP/1.1\r\nHost: a\r\n\r\n", "501"),
        ("GET /livez HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n", "417"),
        (
            "POST /v1/states HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", "415"
        ),
    ])
    func `goes on after such a request`(text: String, status: String) throws {
        let channel = try connect()
        try send(text + Self.request, channel)
        loop.advanceTime(by: .milliseconds(1))
        #expect(try statuses(channel) == [status, "200"])
        #expect(channel.isActive)
    }

    @Test func `says that it wants the body, if the client asks`() throws {
        let channel = try connect()
        let head =
            "POST /v1/states HTTP/1.1\r\nHost: localhost\r\nExpect: 100-Continue\r\n"
            + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n"
        try send(head, channel)
        #expect(try received(channel) == "HTTP/1.1 100 Continue\r\n\r\n")
        try send("{}", channel)
        #expect(try statuses(channel) == ["503"])
        // One that is rejected is not wanted, and is not another request.
        try send(head.replacing("localhost", with: "evil"), channel)
        #expect(try statuses(channel) == ["421"])
        try send("{}" + Self.request, channel)
        loop.advanceTime(by: .milliseconds(1))
        #expect(try statuses(channel) == ["200"])
    }

    @Test func `answers a wrong body once`() throws {
        let channel = try connect()
        let head = "POST /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
        try send(head + "\r\nx\r\n", channel)
        #expect(try statuses(channel) == ["400"])
        let early = try connect()
        try send(head + "Expect: 100-continue\r\n\r\n", early)
        #expect(try statuses(early) == ["405"])
        try send("x\r\n", early)
        #expect(try statuses(early) == [])
        loop.advanceTime(by: .seconds(2))
        #expect(!early.isActive)
    }

    @Test(
        arguments: [
            ("", 75), ("G", 30), (request, 75), (request + "G", 30),
            ("GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", 10),
        ] as [(String, Int64)])
    func `is not waited for after such input`(text: String, seconds: Int64) throws {
        let channel = try connect()
        if !text.isEmpty { try send(text, channel) }
        loop.advanceTime(by: .seconds(seconds) - .nanoseconds(1))
        #expect(channel.isActive)
        loop.advanceTime(by: .nanoseconds(1))
        #expect(!channel.isActive)
    }

    @Test func `is waited for as long as is set when its last request ends`() throws {
        shared.idleSeconds.value = 5
        let first = try connect()
        shared.idleSeconds.value = 10
        loop.advanceTime(by: .seconds(5) - .nanoseconds(1))
        #expect(first.isActive)
        try send(Self.request, first)
        loop.advanceTime(by: .seconds(10) - .nanoseconds(1))
        #expect(first.isActive)
        loop.advanceTime(by: .nanoseconds(1))
        #expect(!first.isActive)
    }

    @Test func `has 30 s for a header, however long it is waited for`() throws {
        shared.idleSeconds.value = 3_600
        let channel = try connect()
        try send(Self.request + "G", channel)
        for _ in 0..<29 {
            loop.advanceTime(by: .seconds(1))
            try send("E", channel)
        }
        #expect(channel.isActive)
        loop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `answers what came before the client ended its input`() throws {
        let channel = try connect()
        try channel.writeInbound(ByteBuffer(string: Self.request + Self.request))
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        loop.run()
        loop.advanceTime(by: .milliseconds(1))
        #expect(try statuses(channel) == ["200", "200"])
        #expect(!channel.isActive)
    }

    @Test(arguments: [
        ("GET /livez HTTP/1.0\r\n\r\n", false, "200"),
        ("GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false, "200"),
        ("GET /livez HTTP/1.1\r\n\r\n", false, "400"),
        (request, true, "200"), (request + "G", true, "200"),
        (
            "POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n"
                + "Expect: 100-continue\r\n\r\n", true, "405"
        ),
        (
            "POST /livez HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                + "Expect: 100-continue\r\n\r\n", false, "405"
        ),
    ])
    func `is not closed before its response is sent`(
        text: String, isHalfClosed: Bool, status: String
    ) throws {
        let kernel = Kernel()
        kernel.isFull = true
        let channel = try connect(through: kernel)
        try send(text, channel)
        if isHalfClosed {
            channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else if text.contains("chunked") {
            try send("x\r\n", channel)
        }
        // The client reads nothing, for nearly as long as it may.
        loop.advanceTime(by: .seconds(15) - .nanoseconds(1))
        #expect(channel.isActive)
        kernel.isFull = false
        channel.flush()
        loop.advanceTime(by: .milliseconds(1))
        #expect(try statuses(channel) == [status])
        #expect(!channel.isActive)
    }

    @Test(arguments: [
        request, "GET /livez HTTP/1.0\r\n\r\n", "GET /x HTTP/1.1\r\nHost: a\r\n\r\n",
    ])
    func `is closed when nothing of the end of its response is read`(text: String) throws {
        let kernel = Kernel()
        kernel.isFull = true
        let channel = try connect(through: kernel)
        try send(text, channel)
        loop.advanceTime(by: .seconds(15) - .nanoseconds(1))
        #expect(channel.isActive)
        loop.advanceTime(by: .nanoseconds(1))
        #expect(!channel.isActive)
        kernel.isFull = false
        channel.flush()
    }

    @Test func `stays until its response is sent`() throws {
        let kernel = Kernel()
        kernel.isFull = true
        let busy = try connect(through: kernel)
        try send(Self.request, busy)
        let next = try connect()
        #expect(busy.isActive && !next.isActive)
        kernel.isFull = false
        busy.flush()
        let other = try connect()
        #expect(!busy.isActive && other.isActive)
    }

    @Test func `ends with all others`() throws {
        let channel = try connect()
        try channel.writeInbound(ByteBuffer(string: Self.request))
        let promise = loop.makePromise(of: Void.self)
        let isDrained = Mutex(false)
        promise.futureResult.whenSuccess { isDrained.withLock { $0 = true } }
        shared.connections.closeAll(promise)
        #expect(!channel.isActive && !isDrained.withLock { $0 })
        loop.run()
        #expect(isDrained.withLock { $0 })
    }
}

/// Below a connection. Everything that is flushed is sent at once, unless it is full.
private final class Kernel: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    var isFull = false

    func flush(context: ChannelHandlerContext) {
        if !isFull { context.flush() }
    }
}
