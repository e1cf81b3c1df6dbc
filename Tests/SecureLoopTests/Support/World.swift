import EventLoop
import Testing

@testable import SecureLoop
@testable import TLSSessions

/// A loop with both ends of its connections: clients that speak TLS over plain streams, and an
/// owner of the encrypted streams, which answers every byte with itself.
final class World: LoopHandler {
    let secure: SecureLoop
    let setting: Setting
    private let loop: Loop
    private let plainAddress: ListenAddress
    private let address: ListenAddress
    private let clientContext: TLSClientContext

    /// The clients' ends; nil as a peer: it speaks no TLS.
    private(set) var clients: [StreamID: Peer?] = [:]
    private(set) var connected: Set<StreamID> = []
    /// What clients that speak no TLS have received.
    private(set) var raw: [StreamID: [UInt8]] = [:]
    /// The owner's ends.
    private(set) var accepted: [StreamID] = []
    private(set) var received: [StreamID: [UInt8]] = [:]
    private(set) var ends: [StreamID: StreamEnd] = [:]
    private(set) var closed: Set<StreamID> = []
    private(set) var drained = 0
    private(set) var timerFirings = 0
    private(set) var clientEnds: Set<StreamID> = []
    /// What the owner answers with.
    var echoes = true
    /// Whether the owner makes streams of accepted sockets itself.
    var adopts = false
    /// Whether the owner pauses after what it has received.
    var stopsAfterReading = false
    private var wakes = 0
    /// Clients that do not continue their handshakes.
    private var silent: Set<StreamID> = []
    private var isDone: () -> Bool = { true }

    private static let patienceMilliseconds: UInt64 = 30_000

    init(
        _ setting: Setting, limits: SecureLoop.Limits = SecureLoop.Limits(),
        threads: HandshakeThreads = HandshakeThreads(count: 1),
        plainAnswer: @escaping (UInt8, Int) -> [UInt8] = { _, _ in [] }
    ) throws {
        self.setting = setting
        loop = try Loop(lingerMilliseconds: 200)
        secure = SecureLoop(
            loop, secureListeners: [1], context: try setting.serverContext(), limits: limits,
            threads: threads, plainAnswer: plainAnswer)
        plainAddress = try loop.bind(host: "127.0.0.1", port: 0)
        address = try loop.bind(host: "127.0.0.1", port: 0)
        try loop.startListening()
        clientContext = try setting.clientContext()
    }

    func close() { secure.close() }

    /// Begins a connection to the listener without TLS.
    func connectPlainly() throws -> StreamID {
        let id = try loop.connect(to: plainAddress)
        clients[id] = .some(nil)
        return id
    }

    /// Begins a client's connection.
    func connect(
        speaksTLS: Bool = true, isSilent: Bool = false, resuming: TLSResumption? = nil
    ) throws -> StreamID {
        let id = try loop.connect(to: address)
        if isSilent { silent.insert(id) }
        guard speaksTLS else {
            clients[id] = .some(nil)
            return id
        }
        guard
            let session = TLSSession(
                clientContext, serverName: setting.serverName, at: Setting.today)
        else { throw SettingError() }
        let peer = Peer(session)
        if let resuming { try peer.resume(resuming) }
        clients[id] = peer
        return id
    }

    /// Has a client begin TLS on a connection that was plain.
    func beginTLS(client id: StreamID) throws -> Peer {
        guard
            let session = TLSSession(
                clientContext, serverName: setting.serverName, at: Setting.today)
        else { throw SettingError() }
        let peer = Peer(session)
        clients[id] = peer
        peer.begin()
        flush(id)
        return peer
    }

    func client(_ id: StreamID) throws -> Peer { try #require(clients[id] ?? nil) }

    func send(_ bytes: [UInt8], from id: StreamID) {
        if case .some(.some(let peer)) = clients[id] {
            peer.send(bytes)
            flush(id)
        } else {
            bytes.withUnsafeBytes { _ = loop.write(id, $0) }
        }
    }

    func endClient(_ id: StreamID) throws {
        try client(id).end()
        flush(id)
    }

    func closeClient(_ id: StreamID) { loop.close(id) }
    func stopReading(client id: StreamID) { loop.stopReading(id) }
    func startReading(client id: StreamID) { loop.startReading(id) }

    /// Runs the loop until the condition holds at the end of a turn.
    func run(
        until condition: @escaping () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        isDone = condition
        let deadline = loop.monotonicMilliseconds + Self.patienceMilliseconds
        secure.armTimer(atMonotonicMilliseconds: deadline)
        secure.run(self)
        #expect(condition(), "the loop gave up waiting", sourceLocation: sourceLocation)
    }

    /// Lets everything happen that is ready to happen.
    func settle() {
        for _ in 0..<4 {
            let before = wakes
            loop.wakeup.wake()
            run { [self] in wakes > before }
        }
    }

    func flush(_ id: StreamID) {
        guard case .some(.some(let peer)) = clients[id], loop.bytesPending(id) == 0 else { return }
        let bytes = peer.takeOutgoing()
        bytes.withUnsafeBytes { _ = loop.write(id, $0) }
    }

    // MARK: - Events

    func socketAccepted(_ socket: CInt, listener: Int) -> Bool {
        if adopts { streamAccepted(secure.adopt(socket, listener: listener)) }
        return adopts
    }

    func streamAccepted(_ id: StreamID) {
        accepted.append(id)
        ends[id] = nil
        secure.startReading(id)
    }

    func streamConnected(_ id: StreamID) {
        connected.insert(id)
        loop.startReading(id)
        if case .some(.some(let peer)) = clients[id] { peer.begin() }
        flush(id)
    }

    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {
        guard let client = clients[id] else {
            received[id, default: []] += bytes
            if stopsAfterReading { secure.stopReading(id) }
            if echoes, secure.bytesPending(id) == 0 { _ = secure.write(id, bytes) }
            return
        }
        guard let peer = client else {
            raw[id, default: []] += bytes
            return
        }
        guard !silent.contains(id) else { return }
        peer.receive(Array(bytes))
        flush(id)
    }

    func streamEnded(_ id: StreamID, _ reason: StreamEnd) {
        if clients[id] != nil {
            clientEnds.insert(id)
            return loop.close(id)
        }
        #expect(ends[id] == nil, "an end is reported once")
        ends[id] = reason
        if reason == .endOfFile { secure.closeAfterWrites(id) } else { secure.close(id) }
    }

    func streamDrained(_ id: StreamID) {
        if clients[id] != nil { flush(id) } else { drained += 1 }
    }
    func streamClosed(_ id: StreamID) {
        silent.remove(id)
        if clients.removeValue(forKey: id) == nil { closed.insert(id) }
    }
    func acceptFailed(_ error: UVError) { Issue.record("\(error)") }
    func timerFired() {
        timerFirings += 1
        loop.stop()
    }
    func wokenUp() { wakes += 1 }
    func signalReceived(_ signal: CInt) {}
    func turnEnded() { if isDone() { loop.stop() } }
}
