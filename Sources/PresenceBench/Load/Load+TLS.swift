import EventLoop
public import TLSSessions

/// What clients of a load need to speak TLS.
public struct BenchTLS: Sendable {
    var trust: TLSClientContext.Trust
    var serverName: String
    var wallSeconds: Int64

    /// Certificates to trust, the name that the service must show, and the wall clock.
    public init(_ trust: TLSClientContext.Trust, serverName: String, wallSeconds: Int64) {
        self.trust = trust
        self.serverName = serverName
        self.wallSeconds = wallSeconds
    }
}

/// What the connections of a load share.
struct LoadTLS {
    let context: TLSClientContext
    let choices: BenchTLS

    init(_ choices: BenchTLS) throws(BenchError) {
        self.choices = choices
        do throws(TLSCertificateError) {
            context = try TLSClientContext(choices.trust)
        } catch {
            throw BenchError("The file with trusted certificates \(error).")
        }
    }
}

/// The TLS of one connection.
final class LoadSession {
    private var session: TLSSession

    init?(_ tls: LoadTLS) {
        let made = TLSSession(
            tls.context, serverName: tls.choices.serverName, at: tls.choices.wallSeconds)
        guard let made else { return nil }
        session = made
    }

    var phase: TLSSession.Phase { session.phase }

    /// Takes in ciphertext; the plaintext is then on the wire, and so is what is to be sent.
    func receive(_ bytes: RawSpan, through wire: TLSWire) {
        var offset = 0
        if session.phase == .handshaking {
            _ = session.handshake(bytes, from: &offset, through: wire)
        }
        guard session.phase == .open, offset < bytes.byteCount else { return }
        _ = session.receive(bytes.extracting(offset..<bytes.byteCount), through: wire)
    }

    func send(_ bytes: [UInt8], through wire: TLSWire) {
        _ = unsafe session.send(bytes.span.bytes, through: wire)
    }
}

extension Load {
    /// Begins the handshake of a client that has connected.
    func beginHandshake(of client: Int, _ tls: LoadTLS) {
        guard let session = LoadSession(tls) else { return fail("No memory for TLS.") }
        clients[client].session = session
        session.receive(RawSpan(), through: wire)
        write(takeCiphertext(), by: client)
    }

    /// Decrypts what has arrived, and passes it on.
    func receive(_ chunk: RawSpan, by client: Int, _ id: StreamID, over session: LoadSession) {
        let wasOpen = session.phase == .open
        session.receive(chunk, through: wire)
        let own = takeCiphertext()
        if !own.isEmpty { write(own, by: client) }
        guard clients[client].stream == id else { return wire.dropPlaintext() }
        if case .failed(let error) = session.phase {
            return fail("TLS with \(target) has failed: \(error.label).")
        }
        if !wasOpen, session.phase == .open { logIn(client) }
        let plaintext = unsafe wire.withPlaintext { unsafe Array($0) }
        wire.dropPlaintext()
        if !plaintext.isEmpty, clients[client].stream == id {
            unsafe read(plaintext.span.bytes, by: client, id)
        }
    }

    func takeCiphertext() -> [UInt8] {
        defer { wire.dropCiphertext() }
        return unsafe wire.withCiphertext { unsafe Array($0) }
    }
}
