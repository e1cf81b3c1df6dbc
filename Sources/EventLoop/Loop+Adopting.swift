// Connected sockets: those that have been accepted, and one end of a pair whose other end is used
// elsewhere in this process.

import CLibUV
import Glibc

extension Loop {
    /// Makes a stream of a connected socket, which the loop owns from now on.
    ///
    /// Nothing is read from it before `startReading`.
    public func adopt(_ fd: CInt) -> StreamID {
        let tcp = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
        // It fails only for invalid flags, and there are none here.
        precondition(unsafe uv_tcp_init(uvLoop, tcp) == 0)
        let slot = unsafe streams.take(tcp)
        unsafe cuv_set_slot(tcp, slot)
        let failure = unsafe uv_tcp_open(tcp, fd)
        // Only a descriptor that is not a socket, or is watched already, is rejected.
        precondition(failure == 0, "a connected socket cannot be opened")
        return streams.id(slot)
    }
}

/// Two sockets that are connected to each other.
public struct SocketPair: Sendable {
    /// The end for `Loop.adopt`.
    public let loopEnd: CInt
    /// The end for the peer of the loop's owner. It does not block.
    public let otherEnd: CInt

    /// Creates a pair. The caller owns both ends.
    public init() throws(UVError) {
        var ends: [CInt] = [-1, -1]
        try checkSystem(
            unsafe ends.withUnsafeMutableBufferPointer {
                guard let base = $0.baseAddress else { return -1 }
                return unsafe cuv_socket_pair(base)
            }, "socketpair")
        loopEnd = ends[0]
        otherEnd = ends[1]
    }

    /// Closes an end that has not been passed on.
    public static func close(_ end: CInt) {
        _ = Glibc.close(end)
    }
}
