import EventLoop
import Foundation
import PresenceWire
import Synchronization

/// Stands between the clients and the service, and does one wrong thing to an event, or to a frame
/// of messages.
final class Tamperer: LoopHandler {
    enum Wrong: Sendable, CaseIterable {
        case lose, double, swapWithNext, otherPublisher
    }

    /// The frames that are counted and tampered with; the text is in all of them.
    enum Kind: String, Sendable {
        case publishEvents = #""cause":"publish""#
        case messages = #""method":"messages""#
    }

    private let loop: Loop
    private let service: ListenAddress
    private let wrong: Wrong
    private let kind: Kind
    /// The event that is tampered with, counted from here.
    private var left: Int
    private var peers: [StreamID: StreamID] = [:]
    private var fromService: [StreamID: FrameSplitter] = [:]
    /// The event that the next one overtakes, and whose it is.
    private var held: (stream: StreamID, frame: [UInt8])?

    private init(
        _ loop: Loop, _ service: ListenAddress, _ wrong: Wrong, _ kind: Kind, at number: Int
    ) {
        self.kind = kind
        self.loop = loop
        self.service = service
        self.wrong = wrong
        left = number
    }

    /// Runs `body` with the address of one, on a thread of its own, in front of a service.
    static func with<T>(
        _ wrong: Wrong, _ kind: Kind = .publishEvents, at number: Int,
        before service: ListenAddress, _ body: (ListenAddress) throws -> T
    ) throws -> T {
        let (hasBegun, hasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let shared = Shared()
        Thread.detachNewThread {
            defer {
                hasBegun.signal()
                hasEnded.signal()
            }
            guard let loop = try? Loop() else { return }
            let address = try? loop.listen(host: "127.0.0.1", port: 0)
            shared.value.withLock { $0 = (address, loop.wakeup) }
            hasBegun.signal()
            loop.run(Tamperer(loop, service, wrong, kind, at: number))
            loop.close()
        }
        hasBegun.wait()
        let (address, wakeup) = shared.value.withLock { $0 }
        defer {
            wakeup?.wake()
            hasEnded.wait()
        }
        guard let address else { throw UVError(code: -1, operation: "listen") }
        return try body(address)
    }

    private final class Shared: Sendable {
        let value = Mutex<(ListenAddress?, Wakeup?)>((nil, nil))
    }

    func streamAccepted(_ id: StreamID) {
        guard let up = try? loop.connect(to: service) else { return loop.close(id) }
        peers[id] = up
        peers[up] = id
        fromService[up] = FrameSplitter()
    }

    func streamConnected(_ id: StreamID) {
        loop.startReading(id)
        if let client = peers[id] { loop.startReading(client) }
    }

    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {
        guard let peer = peers[id] else { return }
        guard var splitter = fromService[id] else { return pass(Array(bytes), to: peer, from: id) }
        let chunk = RawSpan(_unsafeBytes: bytes)
        var offset = 0
        var out: [UInt8] = []
        while case let outcome = splitter.next(in: chunk, from: &offset, bodyBytesMax: 1 << 20),
            outcome != .needMore
        {
            var body: [UInt8] = []
            if case .frame(let place) = outcome {
                body = splitter.withBody(place, in: chunk) { span in
                    (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
                }
            }
            out += tamper(frame(body), of: peer)
        }
        fromService[id] = splitter
        pass(out, to: peer, from: id)
    }

    private func frame(_ body: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt32(body.count).bigEndian, Array.init) + body
    }

    /// What goes to the client instead of a frame.
    private func tamper(_ frame: [UInt8], of client: StreamID) -> [UInt8] {
        let text = String(decoding: frame.dropFirst(4), as: UTF8.self)
        guard text.contains(kind.rawValue) else { return frame }
        if let held, held.stream == client {
            self.held = nil
            return frame + held.frame
        }
        left -= 1
        guard left == 0 else { return frame }
        switch wrong {
        case .lose: return []
        case .double: return frame + frame
        case .swapWithNext:
            held = (client, frame)
            return []
        case .otherPublisher:
            guard let start = text.range(of: #""publisher":"#)?.upperBound else { return frame }
            // The last digit of the name.
            var changed = Array(text.utf8)
            let digit = text.utf8.distance(from: text.startIndex, to: start) + 8
            changed[digit] ^= 1
            return self.frame(changed)
        }
    }

    private func pass(_ bytes: [UInt8], to peer: StreamID, from source: StreamID) {
        let outcome = bytes.withUnsafeBytes { loop.write(peer, $0) }
        if case .pending = outcome { loop.stopReading(source) }
    }

    func streamDrained(_ id: StreamID) {
        if let source = peers[id] { loop.startReading(source) }
    }

    func streamEnded(_ id: StreamID, _ reason: StreamEnd) {
        loop.close(id)
        if let peer = peers.removeValue(forKey: id) {
            peers[peer] = nil
            loop.close(peer)
        }
    }

    func streamClosed(_ id: StreamID) {}
    func acceptFailed(_ error: UVError) {}
    func timerFired() {}
    func wokenUp() { loop.stop() }
    func signalReceived(_ signal: CInt) {}
    func turnEnded() {}
}
