import Foundation

/// A socket on a port of 127.0.0.1 that the kernel chooses. Programs that other tests start do not
/// inherit it.
public struct LoopbackListener: Sendable {
    /// The socket.
    public let descriptor: CInt
    /// Its port.
    public let port: UInt16

    /// A socket that listens, unless connections are to be rejected.
    public init(backlog: CInt = 256, listens: Bool = true) throws {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isReady = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(descriptor, name, length) == 0
                    && (!listens || listen(descriptor, backlog) == 0)
                    && getsockname(descriptor, name, &length) == 0
            }
        }
        guard isReady else { throw ListenError(number: errno) }
        self.descriptor = descriptor
        port = UInt16(bigEndian: address.sin_port)
    }

    /// A port of 127.0.0.1 cannot be had.
    public struct ListenError: Error {
        let number: CInt
    }

    /// The next connection; negative once it is shut down.
    public func accept() -> CInt {
        let connection = Foundation.accept(descriptor, nil, nil)
        if connection >= 0 { _ = fcntl(connection, F_SETFD, FD_CLOEXEC) }
        return connection
    }

    /// Ends a thread that waits for a connection. Its number is still taken.
    public func shutDown() { shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// Frees its number, which may be that of another test's socket then.
    public func close() { Foundation.close(descriptor) }
}
