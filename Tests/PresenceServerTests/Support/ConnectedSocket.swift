import Glibc
import Testing

/// A blocking socket that is connected to an address. Without `bytesUnreadMax`, the kernel makes
/// room for megabytes that are not read, bit by bit.
func connectedSocket(
    _ host: String, _ port: UInt16, bytesUnreadMax: CInt? = nil
) throws -> CInt {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if var bytes = bytesUnreadMax {
        let size = socklen_t(MemoryLayout<CInt>.size)
        try #require(setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, size) == 0)
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    try #require(inet_pton(AF_INET, host, &address.sin_addr) == 1)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let outcome = withUnsafePointer(to: &address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, size)
        }
    }
    try #require(outcome == 0)
    return descriptor
}
