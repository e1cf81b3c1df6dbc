// A WebSocket server that answers each message with the message, for test suites of the protocol:
// the service itself answers with JSON only. Its parts are the service's: event loop, TLS, reader
// of requests, reader of frames, framing. It also accepts what the service rejects: binary
// messages, long ones and those of many fragments.

import EventLoop
import PresenceWire
import SecureLoop

/// The limits of an echo server, instead of those of the service.
enum EchoLimits {
    static let messageBytesMax = 64 << 20
    static let fragmentsMax: UInt32 = 1 << 20
}

/// One loop, and its connections.
final class EchoServer: LoopHandler {
    private let network: SecureLoop
    private var connections: [StreamID: EchoConnection] = [:]

    init(_ network: SecureLoop) {
        self.network = network
    }

    func streamAccepted(_ id: StreamID) {
        connections[id] = EchoConnection()
        network.startReading(id)
    }

    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {
        guard let connection = connections[id] else { return }
        connection.receive(RawSpan(_unsafeBytes: bytes))
        write(connection, id)
    }

    func streamDrained(_ id: StreamID) {
        guard let connection = connections[id] else { return }
        connection.isBlocked = false
        network.startReading(id)
        write(connection, id)
    }

    func streamEnded(_ id: StreamID, _ reason: StreamEnd) { network.close(id) }
    func streamClosed(_ id: StreamID) { connections[id] = nil }
    func acceptFailed(_ error: UVError) { print("cannot accept: \(error)") }
    func timerFired() { network.stop() }
    func wokenUp() {}
    func signalReceived(_ signal: CInt) { network.stop() }
    func turnEnded() {}

    /// Writes what a connection has for its peer. Until the kernel has accepted it, nothing more is
    /// read.
    private func write(_ connection: EchoConnection, _ id: StreamID) {
        guard !connection.isBlocked else { return }
        if !connection.output.isEmpty {
            let outcome = connection.output.withUnsafeBytes { network.write(id, $0) }
            connection.output.removeAll()
            switch outcome {
            case .written: break
            case .pending:
                connection.isBlocked = true
                return network.stopReading(id)
            case .failed: return network.close(id)
            }
        }
        if connection.isOver { network.closeAfterWrites(id) }
    }
}

/// A connection: what it has received that is not complete, and what it has to send.
final class EchoConnection {
    private enum Input {
        case request(UpgradeReader)
        case messages(WebSocketReader)
        /// Nothing is read any more.
        case over
    }

    private var input = Input.request(UpgradeReader())
    private var body: [UInt8] = []
    var output: [UInt8] = []
    var isBlocked = false

    var isOver: Bool {
        if case .over = input { true } else { false }
    }

    /// Reads what has arrived, and appends the answers to the output.
    func receive(_ chunk: RawSpan) {
        var offset = 0
        while true {
            switch input {
            case .over: return
            case .request(var reader):
                let outcome = reader.next(in: chunk, from: &offset)
                input = .request(reader)
                guard take(outcome) else { return }
            case .messages(var reader):
                // Moved and not copied.
                input = .over
                let outcome = reader.next(
                    in: chunk, from: &offset, bodyBytesMax: EchoLimits.messageBytesMax,
                    body: &body)
                input = .messages(reader)
                guard take(outcome) else { return }
            }
        }
    }

    /// Answers a request; false if it is not complete.
    private func take(_ outcome: UpgradeOutcome) -> Bool {
        switch outcome {
        case .needMore: return false
        case .request(let request):
            output.appendAnswer(request)
            var reader = WebSocketReader()
            reader.acceptsBinary = true
            reader.fragmentsMax = EchoLimits.fragmentsMax
            input = .messages(reader)
        case .rejected(let error):
            output.appendAnswer(error)
            input = .over
        }
        return true
    }

    /// Answers what has arrived; false if it is not complete.
    private func take(_ outcome: WebSocketOutcome) -> Bool {
        let framing = Framing.webSocket
        switch outcome {
        case .needMore: return false
        case .keepAlive: framing.appendKeepAlive(to: &output)
        case .text: appendMessage()
        case .binary:
            let start = output.count
            if body.isEmpty { framing.appendKeepAlive(to: &output) } else { appendMessage() }
            // The service sends no binary messages: the opcode is replaced.
            output[start] = output[start] & 0xF0 | 2
        case .ping: framing.appendPong(body, to: &output)
        case .pong: break
        case .close(let code):
            framing.appendEnd(code: code, "", to: &output)
            input = .over
        case .violation(let code):
            framing.appendEnd(code: code.rawValue, code.word, to: &output)
            input = .over
        }
        return true
    }

    private func appendMessage() {
        Framing.webSocket.append(to: &output) { $0.append(contentsOf: body) }
    }
}
