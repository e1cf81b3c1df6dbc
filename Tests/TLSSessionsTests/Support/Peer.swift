import COpenSSL
import TestSupport
import Testing

@testable import TLSSessions

/// One end of a connection, with what it has received and what it has to send.
final class Peer {
    private var session: TLSSession
    private(set) var received: [UInt8] = []
    /// What `send` was given while the session was open.
    private(set) var sent: [UInt8] = []
    /// Ciphertext that has not been taken yet.
    private(set) var outgoing: [UInt8] = []
    private let wire = TLSWire()

    init(_ session: consuming TLSSession) {
        self.session = session
    }

    var phase: TLSSession.Phase { session.phase }
    var version: String { session.version }
    var isResumed: Bool { session.isResumed }

    /// The cipher suite by its IANA name; nil before one is chosen.
    var cipherSuite: String? {
        guard let cipher = SSL_get_current_cipher(session.ssl) else { return nil }
        return SSL_CIPHER_standard_name(cipher).map { String(cString: $0) }
    }

    /// The application protocol that was agreed on; nil if the client offered none.
    var applicationProtocol: String? {
        var start: UnsafePointer<UInt8>?
        var count: CUnsignedInt = 0
        SSL_get0_alpn_selected(session.ssl, &start, &count)
        guard let start, count > 0 else { return nil }
        return String(
            decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// What a later connection needs to continue this session; nil before the server has sent a
    /// ticket, which comes with the first data.
    var resumption: TLSResumption? {
        guard let session = SSL_get1_session(session.ssl) else { return nil }
        let resumption = TLSResumption(session)
        return SSL_SESSION_is_resumable(session) == 1 ? resumption : nil
    }

    /// Has a client continue an earlier session, before its first byte.
    func resume(_ earlier: TLSResumption) throws {
        guard SSL_set_session(session.ssl, earlier.session) == 1 else { throw SettingError() }
    }

    /// Receives ciphertext, in the order that a loop would use.
    func receive(_ bytes: [UInt8]) {
        let chunk = bytes.span.bytes
        var offset = 0
        if session.phase == .handshaking {
            _ = session.handshake(chunk, from: &offset, through: wire)
        }
        if session.phase == .open, offset < chunk.byteCount {
            let rest = chunk.extracting(offset..<chunk.byteCount)
            _ = session.receive(rest, through: wire)
        }
        collect()
    }

    /// Begins the handshake of a client.
    func begin() { receive([]) }

    func send(_ bytes: [UInt8]) {
        if session.phase == .open || session.phase == .peerEnded { sent += bytes }
        _ = session.send(bytes.span.bytes, through: wire)
        collect()
    }

    /// Sends bytes that differ from those before.
    func sendNext() { send(Array(pattern(sent.count + 300).dropFirst(sent.count))) }

    func end() {
        session.end(through: wire)
        collect()
    }

    /// Sends bytes and the end together.
    func end(after bytes: [UInt8]) {
        send(bytes)
        end()
    }

    func takeOutgoing() -> [UInt8] {
        defer { outgoing = [] }
        return outgoing
    }

    func takeReceived() -> [UInt8] {
        defer { received = [] }
        return received
    }

    private func collect() {
        wire.withCiphertext { outgoing.append(contentsOf: $0) }
        wire.withPlaintext { received.append(contentsOf: $0) }
        wire.dropCiphertext()
        wire.dropPlaintext()
        #expect(ErrorQueue.isEmpty, "errors are left for the next session")
    }
}

/// A client and a server, and what is in flight between them.
struct Pair {
    let client: Peer
    let server: Peer

    /// Passes on everything until both are silent.
    func exchange() {
        while true {
            let toServer = client.takeOutgoing()
            let toClient = server.takeOutgoing()
            if toServer.isEmpty, toClient.isEmpty { return }
            if !toServer.isEmpty { server.receive(toServer) }
            if !toClient.isEmpty { client.receive(toClient) }
        }
    }

    var isOpen: Bool { client.phase == .open && server.phase == .open }
}

/// What tests connect with; each test changes what it is about.
struct Setting {
    /// A day in 2027, when all certificates but the expired one are valid.
    static let today: Int64 = 1_800_000_000

    var files = [TestPEM.files(TestPEM.first, TestPEM.firstKey)]
    var minimum = TLSContext.MinimumVersion.tls12
    var tickets: TLSTicketKeys
    var offer = TLSClientContext.Offer()
    var serverName = "one.example"
    var listener = TLSContext.Listener.clients
    var serverRecordsPerKey = TLSSession.recordsPerKey

    init() throws {
        tickets = try #require(TLSTicketKeys(at: 0))
    }

    func serverContext() throws -> TLSContext {
        try TLSContext(
            files, minimum: minimum, tickets: tickets, listener: listener,
            recordsPerKey: serverRecordsPerKey)
    }

    func clientContext() throws -> TLSClientContext {
        try TLSClientContext(.certificates(Array(TestPEM.root.utf8)), offer)
    }

    /// Two peers before their first byte.
    func pair(
        _ serverContext: TLSContext? = nil, _ clientContext: TLSClientContext? = nil,
        resuming: TLSResumption? = nil
    ) throws -> Pair {
        let server = try serverContext ?? self.serverContext()
        let client = try clientContext ?? self.clientContext()
        guard let serverSession = TLSSession(server),
            let clientSession = TLSSession(client, serverName: serverName, at: Self.today)
        else { throw SettingError() }
        let pair = Pair(client: Peer(clientSession), server: Peer(serverSession))
        if let resuming { try pair.client.resume(resuming) }
        return pair
    }

    /// Two peers after the handshake, however it has ended.
    func connect(
        _ serverContext: TLSContext? = nil, _ clientContext: TLSClientContext? = nil,
        resuming: TLSResumption? = nil
    ) throws -> Pair {
        let pair = try pair(serverContext, clientContext, resuming: resuming)
        pair.client.begin()
        pair.exchange()
        return pair
    }
}

struct SettingError: Error {}

/// What a client keeps of a session, to continue it on its next connection.
final class TLSResumption {
    fileprivate let session: OpaquePointer

    fileprivate init(_ session: OpaquePointer) {
        self.session = session
    }

    deinit { SSL_SESSION_free(session) }
}

extension TestPEM {
    static func files(_ chain: String..., key: String) -> TLSCertificateFiles {
        TLSCertificateFiles(chain: Array(chain.joined(separator: "\n").utf8), key: Array(key.utf8))
    }

    static func files(_ chain: String, _ key: String) -> TLSCertificateFiles {
        files(chain, key: key)
    }
}

/// Bytes that differ from their neighbours.
func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 / 256) }
}
