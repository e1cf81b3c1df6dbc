// Connections that go out. A stream is open for its owner from `connect` on, so that it can be
// closed at any time; bytes flow from `streamConnected` on. A connection that does not come about
// ends like every other: by `streamEnded`, once.

import CLibUV
import Glibc

extension Loop {
    /// Begins to connect to a numeric address; `streamConnected` follows, or `streamEnded`.
    ///
    /// Neither comes within this call. What cannot even begin is thrown: an address that is
    /// none, no descriptor or no local port left. What is written meanwhile waits.
    ///
    /// `localHost` is the address to connect from. There are 28,000 ports to an address, and few
    /// free ones are found slowly: a crowd takes several addresses.
    public func connect(
        to address: ListenAddress, from localHost: String? = nil
    ) throws(UVError) -> StreamID {
        let local = try localHost.map { host throws(UVError) in
            try SocketAddress(host: host, port: 0)
        }
        var storage = try SocketAddress(host: address.host, port: address.port).storage
        let tcp = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
        // It fails only for flags that are not given.
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
        // As for those accepted; it fails only for what is no TCP socket.
        unsafe uv_tcp_nodelay(tcp, 1)
        let slot = unsafe streams.take(tcp)
        unsafe cuv_set_slot(tcp, slot)
        streams[Int(slot)].activity = .connecting
        return streams.id(slot)
    }

    /// Gives a socket its address, and leaves the port to `connect`, which knows the peer: a port
    /// may serve several peers.
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

    /// Closes the stream now and makes the kernel tell the peer by RST, as a crash of ours would.
    ///
    /// What waits to be written is dropped. Idempotent. For load tests and tests.
    public func reset(_ id: StreamID) {
        guard let index = streams.index(of: id), streams[index].phase != .closing,
            let tcp = unsafe streams[index].tcp
        else { return }
        // Refused where our FIN is on its way: then an ordinary close is what is left.
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
