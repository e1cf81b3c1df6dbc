// Connected sockets become streams.

import CLibUV

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
