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

    @Test func `continues at its pace, and not below`() {
        client.unacknowledgedBytes = 1 << 20
        progress.begin()
        for _ in 0..<60 {
            client.unacknowledgedBytes -= WriteProgress.bytesPerSecond
            loop.advanceTime(by: .seconds(1))
        }
        #expect(!client.isStalled)
        // At half the pace it may be behind for twice as long.
        for second in 1...30 {
            #expect(!client.isStalled, "second \(second)")
            client.unacknowledgedBytes -= WriteProgress.bytesPerSecond / 2
            loop.advanceTime(by: .seconds(1))
        }
        #expect(client.isStalled)
    }

    @Test func `is not made by a byte now and then`() {
        client.unacknowledgedBytes = 1 << 20
        progress.begin()
        for _ in 0..<16 {
            client.unacknowledgedBytes -= 1
            loop.advanceTime(by: .seconds(1))
        }
        #expect(client.isStalled)
    }

    @Test func `is not made by further bytes, nor by an end in between`() {
        progress.begin()
        loop.advanceTime(by: .seconds(7))
        client.unacknowledgedBytes += 10
        progress.end()
        progress.begin()
        loop.advanceTime(by: .seconds(7))
        client.unacknowledgedBytes -= 10
        #expect(!client.isStalled)
        loop.advanceTime(by: .seconds(2))
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

    @Test func `is not watched after its end, and begins anew with a response`() {
        progress.begin()
        loop.advanceTime(by: .seconds(14))
        progress.end()
        loop.advanceTime(by: .seconds(20))
        #expect(!client.isStalled)
        progress.renew()
        progress.begin()
        loop.advanceTime(by: .seconds(14))
        #expect(!client.isStalled)
        loop.advanceTime(by: .seconds(1))
        #expect(client.isStalled)
    }
}
