import Foundation
import Synchronization
import Testing

/// A server on a port of its own. Each connection has a thread, which does what a test says.
final class Peer: Sendable {
    let port: UInt16
    private let listener: CInt
    private let accepted = Mutex(0)

    /// The connection is closed when `serve` returns.
    init(_ serve: @escaping @Sendable (PeerConnection) -> Void) throws {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(listener, name, length) == 0 && listen(listener, 256) == 0
                    && getsockname(listener, name, &length) == 0
            }
        }
        try #require(isBound)
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread { [self] in
            while true {
                let connection = PeerConnection(descriptor: accept(listener, nil, nil))
                guard connection.descriptor >= 0 else { break }
                accepted.withLock { $0 += 1 }
                Thread {
                    serve(connection)
                    close(connection.descriptor)
                }.start()
            }
            // Here, where it is used: its number may be that of another test's socket then.
            close(listener)
        }.start()
    }

    /// Sends this to each connection that has sent something, and then what `end` says.
    convenience init(answering answer: [UInt8], then end: End = .closes) throws {
        try self.init { connection in
            guard connection.receive() != nil, connection.send(answer), end == .stalls else {
                return
            }
            connection.waitForEnd()
        }
    }

    /// How an answer ends.
    enum End { case closes, stalls }

    /// Connections so far.
    var connections: Int { accepted.withLock { $0 } }

    func stop() { shutdown(listener, CInt(SHUT_RDWR)) }
}

/// A connection of a server, on its thread.
struct PeerConnection: Sendable {
    let descriptor: CInt

    /// What has arrived; nil at the end.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    /// A request with its body, as bytes; nil at the end.
    func request() -> String? {
        var bytes: [UInt8] = []
        while true {
            guard let more = receive() else { return nil }
            bytes += more
            let text = String(decoding: bytes, as: UTF8.self)
            guard let head = text.range(of: "\r\n\r\n") else { continue }
            let length = text[..<head.lowerBound].lowercased().split(separator: "\r\n")
                .first { $0.hasPrefix("content-length: ") }
                .flatMap { Int($0.dropFirst("content-length: ".count)) }
            if text[head.upperBound...].utf8.count >= length ?? 0 { return text }
        }
    }

    /// False if the other end is gone.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Makes the end of the connection a reset.
    func resetAtEnd() {
        var time = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout.size(ofValue: time))
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &time, size)
    }

    func waitForEnd() {
        while receive() != nil {}
    }
}
