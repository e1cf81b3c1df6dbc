import NIOCore
import NIOEmbedded
import Testing

@testable import PresenceHTTP

/// What a client of the native protocol gets on the HTTP port.
@Suite struct `The native protocol on the HTTP port` {
    private let loop = EmbeddedEventLoop()
    private let channel: EmbeddedChannel

    init() throws {
        channel = EmbeddedChannel(loop: loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.pipeline.syncOperations.addHandler(NativeProtocolHandler())
    }

    @Test(arguments: [[0, 0, 0, 2, 123, 125], [0, 0, 0, 0], [0]] as [[UInt8]])
    func `is answered in a frame that names the port`(bytes: [UInt8]) throws {
        try channel.writeInbound(ByteBuffer(bytes: bytes))
        var frame = try #require(try channel.readOutbound(as: ByteBuffer.self))
        let length = frame.readInteger(as: UInt32.self)
        #expect(length == UInt32(frame.readableBytes))
        let text = String(buffer: frame)
        #expect(text.contains(#""method":"close","params":{"code":4400,"#))
        #expect(text.contains("This is the HTTP port."))
        #expect(try channel.readInbound(as: ByteBuffer.self) == nil)
    }

    @Test func `is closed in the end, and not answered twice`() throws {
        try channel.writeInbound(ByteBuffer(bytes: [0, 0, 0, 0]))
        try channel.writeInbound(ByteBuffer(bytes: [0, 0, 0, 0]))
        #expect(try channel.readOutbound(as: ByteBuffer.self) != nil)
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        loop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test(arguments: ["G", "GET / HTTP/1.1\r\n", "\u{16}"])
    func `leaves everything else as it is`(text: String) throws {
        for part in [text, "\u{0}"] {
            try channel.writeInbound(ByteBuffer(string: part))
            #expect(try channel.readInbound(as: ByteBuffer.self) == ByteBuffer(string: part))
        }
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
    }
}
