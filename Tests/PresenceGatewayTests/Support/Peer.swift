import EventLoop
import Foundation
import Glibc
import NIOCore
import PresenceGateway
import Testing

/// The service's end of a connection, played by a test.
///
/// It waits on threads of its own: those of tasks are as few as there are processors.
final class Peer: Sendable {
    private let socket: CInt

    private init(_ socket: CInt) {
        self.socket = socket
    }

    /// A peer, and the socket that leads to it.
    static func pair() throws -> (peer: Peer, socket: CInt) {
        let pair = try SocketPair()
        _ = fcntl(pair.loopEnd, F_SETFL, fcntl(pair.loopEnd, F_GETFL) & ~O_NONBLOCK)
        return (Peer(pair.loopEnd), pair.otherEnd)
    }

    deinit {
        close(socket)
    }

    /// The body of the next frame; nil at the end of the stream.
    func receive() async -> String? {
        await withCheckedContinuation { done in
            Thread { done.resume(returning: self.nextFrame()) }.start()
        }
    }

    private func nextFrame() -> String? {
        guard let head = read(count: 4) else { return nil }
        let length = head.reduce(0) { $0 << 8 | Int($1) }
        return read(count: length).map { String(decoding: $0, as: UTF8.self) }
    }

    private func read(count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let some = bytes.withUnsafeMutableBytes { [filled] buffer in
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                return Glibc.read(socket, rest.baseAddress, rest.count)
            }
            guard some > 0 else { return nil }
            filled += some
        }
        return bytes
    }

    /// Sends a frame.
    func send(_ body: String) {
        send(bytes: Self.frame(body))
    }

    /// Sends bytes; nothing where nobody takes them any more.
    func send(bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let some = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard some > 0 else { return }
            rest = rest.dropFirst(some)
        }
    }

    /// Sends as much as there is room for, and gives the rest.
    func sendWhatIsTaken(_ bytes: [UInt8]) -> [UInt8] {
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        let sent = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, flags) }
        return Array(bytes.dropFirst(max(0, sent)))
    }

    static func frame(_ body: String) -> [UInt8] {
        withUnsafeBytes(of: UInt32(body.utf8.count).bigEndian, Array.init) + body.utf8
    }

    /// Takes a request and gives it `result`.
    func answer(_ result: String) async {
        guard let request = await receive(),
            let object = try? JSONObject(ByteBuffer(string: request)),
            let id = object["id"].flatMap(JSONText.integer)
        else { return }
        send("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":\(result)}")
    }

    func notify(_ method: String, _ params: String) {
        send("{\"jsonrpc\":\"2.0\",\"method\":\"\(method)\",\"params\":\(params)}")
    }
}

/// Runs `body`, which may block, on a thread beside the test.
func besides(_ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    Task {
        await withCheckedContinuation { done in
            Thread {
                body()
                done.resume()
            }.start()
        }
    }
}
