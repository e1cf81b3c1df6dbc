import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import PresenceHTTP

/// The bounds of a connection to the demo's own server.
@Suite struct `A connection to the demo` {
    /// A kernel whose client reads only when it is told to.
    private final class Kernel: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var isFull = true
        private(set) var responses = 0
        private var promises: [EventLoopPromise<Void>] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if String(buffer: unwrapOutboundIn(data)).hasPrefix("HTTP/1.1 ") { responses += 1 }
            if let promise { promises.append(promise) }
            if !isFull { readAll() }
        }

        func close(
            context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
        ) {
            context.close(mode: mode, promise: promise)
            for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
            promises = []
        }

        func readAll() {
            let read = promises
            promises = []
            for promise in read { promise.succeed() }
        }
    }

    /// The kills that have been asked for, each to be called when the service is ready.
    private final class Kills: Sendable {
        let waiting = Mutex<[@Sendable (Int64) -> Void]>([])
    }

    private let loop = EmbeddedEventLoop()
    private let kernel = Kernel()
    private let kills = Kills()
    private let pages: DemoPages
    private let shared: HTTPConnection.Shared

    init() {
        let kills = kills
        pages = DemoPages(DateField { 0 }, connectionsMax: 3) { whenReady in
            kills.waiting.withLock { $0.append(whenReady) }
        }
        pages.begin(at: "127.0.0.1:80", for: "127.0.0.1:7400")
        shared = HTTPConnection.Shared(pages, on: loop)
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

    /// Lets nothing be read or written for as long as that may be.
    private func becomeIdle() { loop.advanceTime(by: .seconds(60)) }

    private let request = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    private let kill =
        "POST /kill HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\n\r\n"

    @Test func `has one response at a time wait for its client`() throws {
        let channel = try connect(through: kernel)
        try send(String(repeating: request, count: 5), channel)
        #expect(kernel.responses == 1)
        kernel.readAll()
        loop.advanceTime(by: .milliseconds(1))
        #expect(kernel.responses == 2)
        kernel.isFull = false
        kernel.readAll()
        loop.advanceTime(by: .milliseconds(1))
        #expect(kernel.responses == 5)
        #expect(channel.isActive)
    }

    @Test func `is closed when its client does not read`() throws {
        let channel = try connect(through: kernel)
        try send(request, channel)
        #expect(channel.isActive)
        becomeIdle()
        #expect(!channel.isActive)
    }

    @Test(arguments: [
        "", "GET / HTTP/1.1\r\nHost:",
        "POST /kill HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\n"
            + "Content-Length: 1024\r\n\r\n",
    ])
    func `is closed when its client does not finish a request`(text: String) throws {
        let channel = try connect()
        if !text.isEmpty { try send(text, channel) }
        loop.advanceTime(by: .seconds(60) - .nanoseconds(1))
        #expect(channel.isActive)
        loop.advanceTime(by: .nanoseconds(1))
        #expect(!channel.isActive)
    }

    @Test func `waits for the service as long as that takes`() throws {
        kernel.isFull = false
        let channel = try connect(through: kernel)
        try send(kill, channel)
        becomeIdle()
        #expect(channel.isActive)
        let waiting = try #require(kills.waiting.withLock { $0.first })
        waiting(7)
        loop.run()
        #expect(kernel.responses == 1)
        becomeIdle()
        #expect(!channel.isActive)
    }

    @Test func `makes room for another one unless its client waits for a response`() throws {
        let first = try connect()
        try send(kill, first)
        let (second, third) = (try connect(), try connect())
        let fourth = try connect()
        #expect([first, second, third, fourth].map(\.isActive) == [true, false, true, true])
        for channel in [third, fourth] { try send(kill, channel) }
        #expect(try !connect().isActive)
        #expect(kills.waiting.withLock { $0.count } == 3)
        try third.close().wait()
        #expect(try connect().isActive)
    }
}
