import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import PresenceHTTP

/// Which connections are closed for newer ones, by what has been read and written on them.
@Suite struct `A connection to HTTP` {
    private let loop = EmbeddedEventLoop()
    private let limiter: ConnectionLimiter
    private let limits: HTTPLimits

    init() {
        var limits = HTTPLimits()
        limits.connectionsMax = 1
        self.limits = limits
        limiter = ConnectionLimiter(limits, on: loop)
    }

    private func connect() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.pipeline.syncOperations.addHandler(
            ConnectionGuard(limits, HTTPCounters(), limiter))
        return channel
    }

    private func request(_ channel: EmbeddedChannel) throws {
        try channel.writeInbound(
            HTTPRequestPart.head(
                HTTPRequest(method: .post, scheme: "http", authority: "a", path: "/livez")))
    }

    private func requestEnds(_ channel: EmbeddedChannel) throws {
        try channel.writeInbound(HTTPRequestPart.end(nil))
    }

    private func respond(_ channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    @Test func `is closed for a newer one while it is silent, or sends a request`() throws {
        let silent = try connect()
        let halfway = try connect()
        #expect(!silent.isActive && halfway.isActive)
        try request(halfway)
        let next = try connect()
        #expect(!halfway.isActive && next.isActive)
    }

    @Test func `stays while its request is being answered`() throws {
        let busy = try connect()
        try request(busy)
        try requestEnds(busy)
        let next = try connect()
        #expect(busy.isActive && !next.isActive)
        try respond(busy)
        let other = try connect()
        #expect(!busy.isActive && other.isActive)
    }

    @Test func `is not busy for good when it was answered before its request ended`() throws {
        let early = try connect()
        try request(early)
        try respond(early)
        try requestEnds(early)
        let next = try connect()
        #expect(!early.isActive && next.isActive)
    }
}
