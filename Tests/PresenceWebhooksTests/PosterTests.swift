import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import Testing

@testable import PresenceWebhooks

@Suite struct `A post` {
    /// A receiver that sends the head of an answer, and never its body.
    private static func stallingReceiver(_ listener: CInt) {
        let connection = accept(listener, nil, nil)
        var buffer = [UInt8](repeating: 0, count: 4_096)
        guard connection >= 0, recv(connection, &buffer, buffer.count, 0) > 0 else { return }
        let head = Array("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nx".utf8)
        _ = send(connection, head, head.count, CInt(MSG_NOSIGNAL))
        // Until the sender gives up.
        while recv(connection, &buffer, buffer.count, 0) > 0 {}
        close(connection)
    }

    @Test func `is not waited for without end`() async throws {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(listener, name, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, name, &length) == 0
            }
        }
        try #require(isBound)
        Thread { Self.stallingReceiver(listener) }.start()
        let poster = HTTPPoster(on: MultiThreadedEventLoopGroup.singleton)
        let outcome = await poster.post(
            ByteBuffer(string: "{}"),
            to: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/", headers: [],
            timeoutSeconds: 1)
        #expect(outcome.status == nil)
        #expect(!outcome.isTaken)
        try await poster.client.shutdown()
    }
}
