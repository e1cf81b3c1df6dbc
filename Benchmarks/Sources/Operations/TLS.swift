public import TLSSessions

extension Operation {
    /// What OpenSSL and the code around it execute for a record.
    static let tls: [Operation] = [
        Operation("tls: a record of 250 bytes, sent") {
            let pair = TLSWorld().connect()
            let event = [UInt8](repeating: 0x7b, count: 250)
            return Work { pair.server.send(event) }
        },
        Operation("tls: ten events in one record, sent") {
            let pair = TLSWorld().connect()
            let events = [UInt8](repeating: 0x7b, count: 2_500)
            return Work { pair.server.send(events) }
        },
        Operation("tls: a record of 100 bytes, sent and received") {
            let pair = TLSWorld().connect()
            let request = [UInt8](repeating: 0x7b, count: 100)
            return Work {
                pair.client.send(request)
                pair.server.receive(pair.client.outgoing)
            }
        },
    ]
}

/// One end of a connection; keeps the last ciphertext that it has to send.
public final class TLSEnd {
    /// The session; public for those who count what it takes.
    public private(set) var session: TLSSession
    private let wire: TLSWire
    private(set) var outgoing: [UInt8] = []

    init(_ session: consuming TLSSession, _ wire: TLSWire) {
        self.session = session
        self.wire = wire
    }

    func send(_ bytes: [UInt8]) {
        _ = session.send(bytes.span.bytes, through: wire)
        takeOutput()
    }

    func receive(_ bytes: [UInt8]) {
        let chunk = bytes.span.bytes
        var offset = 0
        if session.phase == .handshaking {
            _ = session.handshake(chunk, from: &offset, through: wire)
        }
        if session.phase == .open {
            _ = session.receive(chunk.extracting(offset..<chunk.byteCount), through: wire)
        }
        takeOutput()
    }

    /// Frees the buffer of this end, which a real connection would share.
    func forgetOutgoing() { outgoing = [] }

    private func takeOutput() {
        outgoing.removeAll(keepingCapacity: true)
        wire.withCiphertext { outgoing.append(contentsOf: $0) }
        wire.dropCiphertext()
        wire.dropPlaintext()
    }
}

/// A server and a client, with a certificate that the client trusts.
public struct TLSWorld {
    private let server: TLSContext
    private let client: TLSClientContext
    private let wire = TLSWire()
    /// A day in January 2027.
    private static let today: Int64 = 1_800_000_000

    /// New contexts with new ticket keys.
    public init() {
        let files = TLSCertificateFiles(chain: Array(Self.chain.utf8), key: Array(Self.key.utf8))
        guard let tickets = TLSTicketKeys(at: 0),
            let server = try? TLSContext([files], tickets: tickets),
            let client = try? TLSClientContext(.certificates(Array(Self.chain.utf8)))
        else { preconditionFailure("the certificate is sound") }
        (self.server, self.client) = (server, client)
    }

    /// A connection after the handshake.
    func connect() -> (server: TLSEnd, client: TLSEnd) {
        guard let first = TLSSession(server),
            let second = TLSSession(client, serverName: "one.example", at: Self.today)
        else { preconditionFailure("no memory") }
        let server = TLSEnd(first, wire)
        let client = TLSEnd(second, wire)
        client.receive([])
        server.receive(client.outgoing)
        client.receive(server.outgoing)
        server.receive(client.outgoing)
        client.receive(server.outgoing)
        precondition(server.session.phase == .open && client.session.phase == .open)
        return (server, client)
    }

    /// The server's end of a connection after a record each way. The client's end is released.
    public func connectAndTalk() -> TLSEnd {
        let (server, client) = connect()
        client.send([UInt8](repeating: 0x7b, count: 250))
        server.receive(client.outgoing)
        server.send([UInt8](repeating: 0x7b, count: 250))
        client.receive(server.outgoing)
        server.forgetOutgoing()
        return server
    }

    /// P-256, valid until 2126, for this only: its key is public.
    private static let chain = """
        -----BEGIN CERTIFICATE-----
        MIIBkDCCATWgAwIBAgIULR3HAq5F74TcdEbcL5UEjN4+slUwCgYIKoZIzj0EAwIw
        EDEOMAwGA1UEAwwFYmVuY2gwIBcNMjYxMTIyMDYzNzQ3WhgPMjEyNjEwMjkwNjM3
        NDdaMBAxDjAMBgNVBAMMBWJlbmNoMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
        zlews7ZnZcDn2nSUoHt4SnuOkZ8FOgn0a2Ae7WsFS1py5Ndw/W6o/eh1eV2t/Fcc
        8E0Y6+84vikJmxITbrBnaaNrMGkwHQYDVR0OBBYEFNFgRyoB/xF7gn85773w15Py
        0Mh5MB8GA1UdIwQYMBaAFNFgRyoB/xF7gn85773w15Py0Mh5MA8GA1UdEwEB/wQF
        MAMBAf8wFgYDVR0RBA8wDYILb25lLmV4YW1wbGUwCgYIKoZIzj0EAwIDSQAwRgIh
        AL0PNEqF2wfA4/qkfZMOEn8V33wPg6oS66s7XAnvKMj5AiEAilhMSyiTvBaEkErI
        hn09g+3EgNyIUy7TnMiNvqgxcl4=
        -----END CERTIFICATE-----
        """
    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgToUzaulZuFG5SZur
        6QWmjVwRtn3rtTCIBGHStIx9HM2hRANCAATOV7CztmdlwOfadJSge3hKe46RnwU6
        CfRrYB7tawVLWnLk13D9bqj96HV5Xa38VxzwTRjr7zi+KQmbEhNusGdp
        -----END PRIVATE KEY-----
        """
}
