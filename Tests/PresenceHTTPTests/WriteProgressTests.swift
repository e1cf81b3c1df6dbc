import Dispatch
import NIOCore
import NIOEmbedded
import NIOPosix
import TestSupport
import Testing

@testable import PresenceHTTP

/// When a client is taken for one that does not read.
@Suite struct `The progress of writes` {
    private final class Client {
        var unacknowledgedBytes = 100
        var isStalled = false
    }

    private let loop = EmbeddedEventLoop()
    private let client = Client()
    private let progress: WriteProgress

    init() {
        let client = client
        progress = WriteProgress(
            on: loop, seconds: 15, unacknowledgedBytes: { client.unacknowledgedBytes },
            whenStalled: { client.isStalled = true })
    }

    @Test func `stalls when nothing is acknowledged`() {
        progress.begin()
        loop.advanceTime(by: .seconds(15) - .nanoseconds(1))
        #expect(!client.isStalled)
        loop.advanceTime(by: .nanoseconds(1))
        #expect(client.isStalled)
    }

    @Test func `continues with any byte`() {
        progress.begin()
        for _ in 0..<10 {
            loop.advanceTime(by: .seconds(14))
            client.unacknowledgedBytes -= 1
        }
        loop.advanceTime(by: .seconds(15))
        #expect(!client.isStalled)
        loop.advanceTime(by: .seconds(1))
        #expect(client.isStalled)
    }

    @Test func `is not made by further bytes`() {
        progress.begin()
        loop.advanceTime(by: .seconds(7))
        client.unacknowledgedBytes += 10
        progress.begin()
        loop.advanceTime(by: .seconds(7))
        client.unacknowledgedBytes -= 10
        loop.advanceTime(by: .seconds(1))
        #expect(client.isStalled)
    }

    /// More bytes than the kernel takes for two sockets.
    @Test(.timeLimit(.minutes(10)))
    func `is seen in what NIO and the kernel hold for a client`() async throws {
        let byteCount = 64 << 20
        let mayRead = DispatchSemaphore(value: 0)
        let client = try LoopbackServer { connection in
            mayRead.wait()
            connection.waitForEnd()
        }
        defer { client.stop() }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: Int(client.port)).get()
        let written = channel.eventLoop.makePromise(of: Void.self)
        channel.writeAndFlush(ByteBuffer(repeating: 0, count: byteCount), promise: written)
        let held = { try await channel.eventLoop.submit { channel.unacknowledgedBytes }.get() }
        let unread = try await held()
        #expect(unread > 0 && unread <= byteCount)
        mayRead.signal()
        try await written.futureResult.get()
        // The last bytes are acknowledged when the client has them.
        while try await held() > 0 {}
        try await channel.close()
    }

    @Test func `is not watched after its end`() {
        progress.begin()
        loop.advanceTime(by: .seconds(14))
        progress.end()
        loop.advanceTime(by: .seconds(20))
        progress.begin()
        loop.advanceTime(by: .seconds(14))
        #expect(!client.isStalled)
        loop.advanceTime(by: .seconds(1))
        #expect(client.isStalled)
    }
}
