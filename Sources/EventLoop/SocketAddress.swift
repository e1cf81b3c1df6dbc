import CLibUV
import Containers
import Glibc

/// A numeric address and a port, as text: `127.0.0.1:7400`, `[::1]:7400`.
public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    /// The numeric address, without brackets.
    public let host: String
    /// The port in host byte order.
    public let port: UInt16

    /// An address as text; nothing is looked up or checked.
    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// As in a URL: an IPv6 address is in brackets.
    public var description: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// The kernel's form of an address, IPv4 or IPv6.
struct SocketAddress {
    private(set) var storage = sockaddr_storage()
    private(set) var byteCount = socklen_t(MemoryLayout<sockaddr_storage>.size)

    init(host: String, port: UInt16) throws(UVError) {
        let failure = unsafe host.withCString {
            unsafe cuv_parse_address($0, port, &storage, &byteCount)
        }
        try check(failure, "uv_ip6_addr")
    }

    private init() {}

    var family: CInt { CInt(storage.ss_family) }

    var listenAddress: ListenAddress {
        var storage = storage
        let host = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
            guard let start = text.baseAddress else { return "" }
            unsafe start.pointee = 0
            _ = unsafe uv_ip_name(cuv_sockaddr(&storage), start, text.count)
            return unsafe String(cString: start)
        }
        return unsafe ListenAddress(host: host, port: cuv_port(&storage))
    }

    /// The network that limits per address count; nil for another family than IPv4 and IPv6.
    var network: ClientNetwork? {
        let place: Range<Int>
        switch family {
        case AF_INET: place = 4..<8
        case AF_INET6: place = 8..<24
        default: return nil
        }
        return unsafe withUnsafeBytes(of: storage) {
            ClientNetwork(address: unsafe Array($0[place]))
        }
    }

    static func bound(to fd: CInt) throws(UVError) -> SocketAddress {
        var address = SocketAddress()
        try checkSystem(
            unsafe getsockname(fd, cuv_sockaddr(&address.storage), &address.byteCount),
            "getsockname")
        return address
    }

    static func peer(ofSocket socket: CInt) -> SocketAddress? {
        var address = SocketAddress()
        let failure = unsafe getpeername(
            socket, cuv_sockaddr(&address.storage), &address.byteCount)
        return failure == 0 ? address : nil
    }

    static func peer(of tcp: UnsafeMutablePointer<uv_tcp_t>) -> SocketAddress? {
        var address = SocketAddress()
        var byteCount = CInt(address.byteCount)
        let failure = unsafe uv_tcp_getpeername(tcp, cuv_sockaddr(&address.storage), &byteCount)
        return failure == 0 ? address : nil
    }
}
