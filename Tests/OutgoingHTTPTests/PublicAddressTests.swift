import Foundation
import HTTPValues
import TestSupport
import Testing

@testable import OutgoingHTTP

@Suite struct `A public address` {
    /// The bytes of an address as it is written.
    private func bytes(_ text: String) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 { return Array(bytes.prefix(4)) }
        try #require(inet_pton(AF_INET6, text, &bytes) == 1, "\(text)")
        return bytes
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
        "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255",
        "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255",
        "198.20.0.0", "223.255.255.255", "2001:4860:4860::8888", "2a00:1450:4001::1",
        "2606:4700::1111", "2001:200::1", "64:ff9b::8.8.8.8",
    ])
    func `is one of the Internet`(text: String) throws {
        #expect(PublicAddress.contains(try bytes(text)))
    }

    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
        "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254", "172.16.0.0",
        "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.0.0",
        "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
        "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1",
        "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::8.8.8.8", "fc00::1", "fd12::1",
        "fe80::1", "febf::1", "fec0::1", "ff02::1", "100::1", "64:ff9b::127.0.0.1",
        "64:ff9b::10.0.0.1", "64:ff9b:1::1", "2001::1", "2001:1ff::1", "2001:db8::1",
        "2002:7f00:1::1", "3fff::1", "4000::1", "1fff::1",
    ])
    func `is no other`(text: String) throws {
        #expect(!PublicAddress.contains(try bytes(text)))
    }

    @Test(arguments: [0, 1, 3, 5, 15, 17])
    func `has 4 or 16 bytes`(count: Int) {
        #expect(!PublicAddress.contains([UInt8](repeating: 8, count: count)))
    }

    /// By its address and by a name: `localhost` resolves to a loopback address.
    @Test(arguments: ["127.0.0.1", "localhost"])
    func `is the only one that some requests are sent to`(host: String) async throws {
        let server = try LoopbackServer(answering: Array("HTTP/1.1 204 None\r\n\r\n".utf8))
        defer { server.stop() }
        let url = try OutgoingURL("http://\(host):\(server.port)/")
        func send(_ reach: OutgoingRequest.Reach) async throws -> Int {
            try await withHTTP {
                try await $0.send(
                    OutgoingRequest(
                        .get, url, headers: [], timeoutSeconds: 3_600, responseBytesMax: 0,
                        reach: reach)
                ).status
            }
        }
        await #expect(throws: OutgoingError.cannotConnect("its address is not public")) {
            try await send(.publicAddresses)
        }
        #expect(server.connections == 0)
        #expect(try await send(.anywhere) == 204)
    }
}
