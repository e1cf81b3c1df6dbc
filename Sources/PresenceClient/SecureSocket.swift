import Glibc
public import TLSSessions

/// What a client needs to speak TLS with a service.
public struct ClientTLS {
    /// The certificates that are trusted.
    public var context: TLSClientContext
    /// The wall clock, for the dates of certificates: seconds since 1970 UTC.
    public var wallSeconds: Int64

    /// With certificates to trust, and the time.
    public init(_ context: TLSClientContext, wallSeconds: Int64) {
        self.context = context
        self.wallSeconds = wallSeconds
    }
}

/// A blocking connection over TLS, whose peer has shown that it is the host.
final class SecureSocket: ByteStream {
    private let socket: Socket
    private let wire = TLSWire()
    private var session: TLSSession

    /// How long the peer may think about each message of the handshake.
    private static let patienceMilliseconds = 10_000

    /// Carries out the handshake.
    init(_ socket: Socket, host: String, port: UInt16, _ tls: ClientTLS) throws(ClientError) {
        let address = "\(host):\(port)"
        self.socket = socket
        // The port is not part of a name.
        guard
            let session = TLSSession(tls.context, serverName: host, at: tls.wallSeconds)
        else { throw .notSecured(address, .invalidName) }
        self.session = session
        var isFirst = true
        var bytes: [UInt8] = []
        while true {
            var offset = 0
            let phase = unsafe self.session.handshake(
                bytes.span.bytes, from: &offset, through: wire)
            let problem = Self.problem(self.session, phase, isFirst: isFirst)
            // An alert, too.
            do throws(ClientError) { try sendWire() } catch { if problem == nil { throw error } }
            if let problem { throw .notSecured(address, problem) }
            if phase == .open {
                let rest = Array(bytes.dropFirst(offset))
                if !rest.isEmpty { try decrypt(rest) }
                return
            }
            bytes = try Self.receive(from: socket, address, isFirst: isFirst)
            isFirst = false
        }
    }

    private static func receive(
        from socket: Socket, _ address: String, isFirst: Bool
    ) throws(ClientError) -> [UInt8] {
        let ended = ClientError.notSecured(address, isFirst ? .notTLS : .ended)
        do throws(ClientError) {
            guard let bytes = try socket.receive(withinMilliseconds: patienceMilliseconds) else {
                throw .notSecured(address, .timedOut)
            }
            guard !bytes.isEmpty else { throw ended }
            return bytes
        } catch .connectionLost {
            throw ended
        } catch {
            throw error
        }
    }

    private static func problem(
        _ session: borrowing TLSSession, _ phase: TLSSession.Phase, isFirst: Bool
    ) -> TLSProblem? {
        guard case .failed(let error) = phase else { return nil }
        return switch error {
        case .certificate: .certificate(session.certificateProblem)
        case .notTLS: .notTLS
        case .noSharedVersion: .version
        case .noSharedProtocol: .otherProtocol
        default: .other(error.label)
        }
    }

    var wasInterrupted: Bool { socket.wasInterrupted }

    func send(_ bytes: [UInt8]) throws(ClientError) {
        let phase = unsafe session.send(bytes.span.bytes, through: wire)
        try sendWire()
        if case .failed = phase { throw .connectionLost("TLS failed") }
    }

    /// Data that is not for the caller, such as a ticket, begins the timeout again; a peer can send
    /// a limited number of such messages.
    func receive(withinMilliseconds timeout: Int) throws(ClientError) -> [UInt8]? {
        while wire.plaintextCount == 0, session.phase == .open {
            guard let bytes = try socket.receive(withinMilliseconds: timeout) else { return nil }
            guard !bytes.isEmpty else { return [] }
            try decrypt(bytes)
        }
        defer { wire.dropPlaintext() }
        return unsafe wire.withPlaintext { unsafe Array($0) }
    }

    private func decrypt(_ bytes: [UInt8]) throws(ClientError) {
        let phase = unsafe session.receive(bytes.span.bytes, through: wire)
        try sendWire()
        if case .failed(let error) = phase, wire.plaintextCount == 0 {
            throw .connectionLost("TLS failed: \(error.label)")
        }
    }

    func finishSending() {
        session.end(through: wire)
        try? sendWire()
        socket.finishSending()
    }

    func shut() {
        session.end(through: wire)
        try? sendWire()
        socket.shut()
    }

    private func sendWire() throws(ClientError) {
        defer { wire.dropCiphertext() }
        let bytes = unsafe wire.withCiphertext { unsafe Array($0) }
        if !bytes.isEmpty { try socket.send(bytes) }
    }
}

/// Why a connection over TLS could not be established.
public enum TLSProblem: Hashable, Sendable, CustomStringConvertible {
    case certificate(CertificateProblem?)
    /// The peer did not answer in TLS.
    case notTLS
    /// The peer has closed the connection in the middle of the handshake.
    case ended
    case version
    /// The peer speaks another protocol over TLS.
    case otherProtocol
    case timedOut
    case invalidName
    /// The word for the error.
    case other(String)

    /// What is wrong, and what would be right.
    public var description: String {
        switch self {
        case .certificate(.unknownAuthority):
            "its certificate is not from an authority that is trusted here. Give the authority's "
                + "certificate with --ca."
        case .certificate(.wrongName):
            "its certificate is for another name. Connect to a name in the certificate."
        case .certificate(.expired): "its certificate has expired."
        case .certificate(.notYetValid): "its certificate is not valid yet."
        case .certificate(.other(let words)): "its certificate is not accepted: \(words)."
        case .certificate(nil): "its certificate is not accepted."
        case .notTLS:
            "it does not speak TLS. Is that the port without TLS? Omit --tls, or connect to the "
                + "service's address for TLS (listen-tls)."
        case .ended: "it closed the connection during the handshake."
        case .version: "it accepts no version of TLS that is supported here (1.2 and 1.3)."
        case .otherProtocol:
            "it speaks TLS, and not this protocol. Is that its port for HTTP (http-tls)? Connect "
                + "to that of listen-tls."
        case .timedOut: "no response in the handshake."
        case .invalidName: "this cannot be the name of a host."
        case .other(let word): "the handshake failed (\(word))."
        }
    }
}
