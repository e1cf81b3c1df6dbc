// Bytes of a TLS client, and a peer that tampers with a conversation.
//
// The first byte of the input chooses: whether the rest is what a client sends first, or a history
// of two ends whose ciphertext is changed between them. OpenSSL draws random numbers, so the same
// input takes the same path, but not with the same bytes.

import TLSSessions

/// One end of a connection, with what is in flight from it.
private final class End {
    var session: TLSSession
    var sent: [UInt8] = []
    var received: [UInt8] = []
    var inFlight: [UInt8] = []
    private let wire = TLSWire()

    init(_ session: consuming TLSSession) {
        self.session = session
    }

    func receive(_ bytes: [UInt8]) {
        let before = session.phase
        let chunk = bytes.span.bytes
        var offset = 0
        if session.phase == .handshaking {
            _ = session.handshake(chunk, from: &offset, through: wire)
            require(offset <= chunk.byteCount, "read more than there was")
        }
        if session.phase == .open {
            _ = session.receive(chunk.extracting(offset..<chunk.byteCount), through: wire)
        }
        take()
        if case .failed = before { require(session.phase == before, "a failed session changed") }
    }

    func send(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: sent.count &+ $0) }
        let isOpen = session.phase == .open || session.phase == .peerEnded
        _ = session.send(bytes.span.bytes, through: wire)
        if isOpen, !hasEnded { sent += bytes }
        take()
    }

    private(set) var hasEnded = false

    func end() {
        if session.phase == .open || session.phase == .peerEnded { hasEnded = true }
        session.end(through: wire)
        take()
    }

    private func take() {
        wire.withCiphertext { inFlight.append(contentsOf: $0) }
        wire.withPlaintext { received.append(contentsOf: $0) }
        wire.dropCiphertext()
        wire.dropPlaintext()
    }
}

/// The contexts of all runs.
private struct Contexts {
    let server: TLSContext
    let client: TLSClientContext

    static func make() -> Contexts {
        let files = TLSCertificateFiles(
            chain: Array(TestPEM.first.utf8), key: Array(TestPEM.firstKey.utf8))
        guard let tickets = TLSTicketKeys(at: 0),
            let server = try? TLSContext([files], tickets: tickets),
            let client = try? TLSClientContext(.certificates(Array(TestPEM.root.utf8)))
        else { preconditionFailure("the test certificates are sound") }
        return Contexts(server: server, client: client)
    }

    static let today: Int64 = 1_800_000_000
}

// SAFETY: libFuzzer calls on one thread.
nonisolated(unsafe) private let contexts = Contexts.make()

/// What a client sends first, whole and byte by byte.
private func readHello(_ bytes: [UInt8]) {
    var whole = ClientHelloReader()
    let outcome = whole.receive(bytes.span.bytes)
    var single = ClientHelloReader()
    var last = ClientHelloReader.Outcome.needMore
    for byte in bytes { last = single.receive([byte].span.bytes) }
    if !bytes.isEmpty { require(last == outcome, "byte by byte is not the same") }
    if case .rejected = outcome {
        require(whole.bytes.isEmpty, "a rejected hello is kept")
    } else {
        require(whole.bytes == bytes && single.bytes == bytes, "a hello has changed")
    }
    guard let session = TLSSession(contexts.server) else { return }
    // OpenSSL must bear what the reader rejects, too.
    let server = End(session)
    server.receive(bytes)
    require(server.session.phase != .open, "a handshake without its second half")
}

/// A conversation whose bytes are changed in flight.
private func converse(_ input: inout Input) {
    guard let first = TLSSession(contexts.server),
        let second = TLSSession(
            contexts.client, serverName: "one.example", at: Contexts.today)
    else { return }
    let server = End(first)
    let client = End(second)
    client.receive([])
    if input.below(2) == 0 {
        for _ in 0..<3 {
            deliver(from: client, to: server, client.inFlight.count)
            deliver(from: server, to: client, server.inFlight.count)
        }
        require(server.session.phase == .open && client.session.phase == .open, "not open")
    }
    var isTampered = false
    while !input.isEmpty {
        let (from, to) = input.below(2) == 0 ? (client, server) : (server, client)
        switch input.below(8) {
        case 0: from.send(input.below(256) * input.pick([1, 1, 300]))
        case 1, 2: deliver(from: from, to: to, 1 + input.below(256) * input.pick([1, 16]))
        case 3: deliver(from: from, to: to, from.inFlight.count)
        case 4: from.end()
        default:
            isTampered = true
            tamper(&from.inFlight, &input)
        }
    }
    deliver(from: client, to: server, client.inFlight.count)
    deliver(from: server, to: client, server.inFlight.count)
    require(client.sent.starts(with: server.received), "the server has what was not sent")
    require(server.sent.starts(with: client.received), "the client has what was not sent")
    if !isTampered {
        for end in [client, server] {
            if case .failed(let error) = end.session.phase { require(false, "failed: \(error)") }
        }
    }
}

private func deliver(from: End, to: End, _ count: Int) {
    let part = Array(from.inFlight.prefix(count))
    from.inFlight.removeFirst(part.count)
    if !part.isEmpty { to.receive(part) }
}

private func tamper(_ bytes: inout [UInt8], _ input: inout Input) {
    let place = bytes.isEmpty ? 0 : (input.below(256) * 256 + input.below(256)) % bytes.count
    switch input.below(5) {
    case 0: if !bytes.isEmpty { bytes[place] ^= 1 << UInt8(input.below(8)) }
    case 1: bytes.removeFirst(place)
    case 2: bytes.removeLast(place)
    case 3: bytes += bytes.prefix(20_000)
    default: for _ in 0..<input.below(64) { bytes.insert(input.byte(), at: place) }
    }
}

/// Reads one input in the way that its first byte says.
func fuzzTLS(_ bytes: [UInt8]) {
    var input = Input(bytes)
    if input.below(2) == 0 {
        readHello(input.remainder())
    } else {
        converse(&input)
    }
}
