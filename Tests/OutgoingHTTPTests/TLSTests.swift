import Foundation
import TLSSessions
import TestSupport
import Testing

@testable import OutgoingHTTP

@Suite struct `A request over TLS` {
    /// A server for `one.example` and 127.0.0.1, which answers with the same text.
    private func server() throws -> LoopbackServer {
        let files = TLSCertificateFiles(
            chain: Array(TestPEM.first.utf8), key: Array(TestPEM.firstKey.utf8))
        let context = try TLSContext(
            [files], tickets: try #require(TLSTicketKeys(at: 0)), listener: .http)
        return try LoopbackServer { connection in
            Self.serve(connection, context, "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret")
        }
    }

    private static func serve(
        _ connection: LoopbackConnection, _ context: TLSContext, _ answer: String
    ) {
        guard var session = TLSSession(context) else { return }
        let wire = TLSWire()
        let plaintext = Array(answer.utf8)
        while let bytes = connection.receive() {
            var offset = 0
            if session.phase == .handshaking {
                _ = session.handshake(bytes.span.bytes, from: &offset, through: wire)
            }
            let rest = Array(bytes[offset...])
            _ = session.receive(rest.span.bytes, through: wire)
            if wire.plaintextCount > 0 {
                _ = session.send(plaintext.span.bytes, through: wire)
                wire.dropPlaintext()
            }
            connection.send(wire.withCiphertext { Array($0) })
            wire.dropCiphertext()
        }
    }

    private func attempt(
        _ host: String, trusting authorities: String?
    ) async throws -> Result<OutgoingResponse, OutgoingError> {
        let peer = try server()
        defer { peer.stop() }
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var rules = TransferRules.patient
        if let authorities {
            let file = folder.appending(path: "ca.pem")
            try Data(authorities.utf8).write(to: file)
            rules.authoritiesPath = file.path
        }
        return try await withHTTP(rules) { try await $0.result("https://\(host):\(peer.port)/") }
    }

    @Test func `is answered by a server whose certificate is trusted`() async throws {
        let response = try await attempt("127.0.0.1", trusting: TestPEM.root).get()
        #expect(response.status == 200 && response.body == Array("secret".utf8))
    }

    @Test func `is not sent to one that an unknown authority has signed`() async throws {
        let error = try await attempt("127.0.0.1", trusting: nil).error
        let why = "the certificate is not trusted: unable to get local issuer certificate"
        #expect(error == .cannotConnect(why))
    }

    @Test func `is not sent to one with the certificate of another host`() async throws {
        let error = try await attempt("localhost", trusting: TestPEM.root).error
        #expect(error == .cannotConnect("the certificate is for another host"))
    }

    @Test func `is not sent to one without TLS`() async throws {
        for (answer, why) in [
            ("HTTP/1.1 400 Bad\r\n\r\n", "wrong version number"), ("", "the connection was closed"),
        ] {
            let peer = try LoopbackServer(answering: Array(answer.utf8))
            defer { peer.stop() }
            let error = try await withHTTP {
                try await $0.result(peer.url(scheme: "https")).error
            }
            #expect(error == .cannotConnect("TLS: \(why)"))
        }
    }
}
