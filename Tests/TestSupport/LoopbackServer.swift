import Foundation
import Synchronization

/// A server on a port of its own. Each connection has a thread, which does what a test says.
public final class LoopbackServer: Sendable {
    private let listener: LoopbackListener
    private let accepted = Mutex(0)

    /// The connection is closed when `serve` returns.
    public init(_ serve: @escaping @Sendable (LoopbackConnection) -> Void) throws {
        listener = try LoopbackListener()
        Thread { [self] in
            // Here, where it is used: its number may be that of another test's socket then.
            defer { listener.close() }
            while true {
                let connection = LoopbackConnection(descriptor: listener.accept())
                guard connection.descriptor >= 0 else { return }
                accepted.withLock { $0 += 1 }
                Thread {
                    serve(connection)
                    close(connection.descriptor)
                }.start()
            }
        }.start()
    }

    /// Sends this to each connection that has sent something, and then what `end` says.
    public convenience init(answering answer: [UInt8], then end: End = .closes) throws {
        try self.init { connection in
            guard connection.receive() != nil, connection.send(answer), end == .stalls else {
                return
            }
            connection.waitForEnd()
        }
    }

    /// How an answer ends.
    public enum End: Sendable {
        /// The connection is closed.
        case closes
        /// Nothing follows until the client gives up.
        case stalls
    }

    /// Connections so far.
    public var connections: Int { accepted.withLock { $0 } }

    /// Its port.
    public var port: UInt16 { listener.port }

    /// Ends it; connections go on.
    public func stop() { listener.shutDown() }
}

/// A connection of a server, on its thread.
public struct LoopbackConnection: Sendable {
    let descriptor: CInt

    /// What has arrived; nil at the end.
    public func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    /// A request with its body, as bytes; nil at the end.
    public func request() -> String? {
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
    public func send(_ bytes: [UInt8]) -> Bool {
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

    /// False if the other end is gone.
    @discardableResult
    public func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Makes the end of the connection a reset.
    public func resetAtEnd() {
        var time = linger(l_onoff: 1, l_linger: 0)
        let size = socklen_t(MemoryLayout.size(ofValue: time))
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &time, size)
    }

    /// Reads until the other end closes it.
    public func waitForEnd() {
        while receive() != nil {}
    }
}
