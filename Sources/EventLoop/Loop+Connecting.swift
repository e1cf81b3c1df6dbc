// Outgoing connections. A stream is open for its owner from `connect` on, so that it can be closed
// at any time; bytes flow from `streamConnected` on. A connection that is not established ends like
// every other: by `streamEnded`, once.

import CLibUV
import Glibc

extension Loop {
    /// Begins to connect to a numeric address; `streamConnected` or `streamEnded` follows.
    ///
    /// Neither is called within this call. Immediate failures are thrown: an invalid address, no
    /// descriptor or no local port left. What is written in the meantime waits.
    ///
    /// `localHost` is the address to connect from. There are 28,000 local ports per address, and
    /// the last free ones are found slowly: for many connections use several addresses.
    public func connect(
        to address: ListenAddress, from localHost: String? = nil
    ) throws(UVError) -> StreamID {
        let local = try localHost.map { host throws(UVError) in
            try SocketAddress(host: host, port: 0)
        }
        var storage = try SocketAddress(host: address.host, port: address.port).storage
        let tcp = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
        // It fails only for invalid flags, and there are none here.
        precondition(unsafe uv_tcp_init(uvLoop, tcp) == 0)
        let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
        var failure = local.map { unsafe bind(tcp, $0) } ?? 0
        if failure == 0 {
            failure = unsafe uv_tcp_connect(
                request, tcp, cuv_sockaddr(&storage), streamConnected)
        }
        guard failure == 0 else {
            unsafe request.deallocate()
            // The handle may have its socket already.
            unsafe uv_close(cuv_tcp_handle(tcp), loopHandleClosed)
            throw UVError(code: failure, operation: "uv_tcp_connect")
        }
        // As for accepted sockets; it fails only for what is not a TCP socket.
        unsafe uv_tcp_nodelay(tcp, 1)
        let slot = unsafe streams.take(tcp)
        unsafe cuv_set_slot(tcp, slot)
        streams[Int(slot)].activity = .connecting
        return streams.id(slot)
    }

    /// Binds a socket to its address, and leaves the port to `connect`, which knows the peer: a
    /// port can be used for several peers.
    private func bind(_ tcp: UnsafeMutablePointer<uv_tcp_t>, _ local: SocketAddress) -> CInt {
        let fd = cuv_connecting_socket(local.family)
        guard fd >= 0 else { return uv_translate_sys_error(errno) }
        let failure = unsafe uv_tcp_open(tcp, fd)
        guard failure == 0 else {
            _ = Glibc.close(fd)
            return failure
        }
        var storage = local.storage
        return unsafe uv_tcp_bind(tcp, cuv_sockaddr(&storage), 0)
    }

    /// Closes the stream now and makes the kernel send RST to the peer, as after a crash.
    ///
    /// What waits to be written is dropped. Idempotent. For load tests and tests.
    public func reset(_ id: StreamID) {
        guard let index = streams.index(of: id), streams[index].phase != .closing,
            let tcp = unsafe streams[index].tcp
        else { return }
        // Rejected after FIN was sent: then close it normally.
        guard unsafe uv_tcp_close_reset(tcp, streamHandleClosed) == 0 else {
            return closeStream(index)
        }
        streams[index].phase = .closing
    }

    fileprivate func connected(_ slot: UInt32, _ status: CInt) {
        let index = Int(slot)
        streams[index].activity.remove(.connecting)
        // uv_close cancels the attempt; the owner knows that it closed.
        guard streams[index].phase == .open else { return }
        guard status == 0 else {
            return finish(index, .failed(UVError(code: status, operation: "uv_tcp_connect")))
        }
        handler?.streamConnected(streams.id(slot))
    }
}

// MARK: - Trampolines

private func streamConnected(_ request: UnsafeMutablePointer<uv_connect_t>?, _ status: CInt) {
    guard let request = unsafe request, let stream = unsafe request.pointee.handle else { return }
    unsafe withLoop(of: stream) { $0.connected(unsafe cuv_slot(stream), status) }
    unsafe request.deallocate()
}
