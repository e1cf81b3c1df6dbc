// Listening and accepting. The loop opens the listening socket itself and libuv only polls it
// (`uv_poll_t`); `uv_listen` is not used. The reason is what libuv 1.44 does without descriptors:
//
//   * At EMFILE and ENFILE it closes a reserve descriptor, accepts and closes *every* connection in
//     the backlog, opens the reserve again, and reports nothing (`uv__emfile_trick`).
//   * Without the reserve, and at ENOBUFS and ENOMEM, `uv__server_io` calls the connection
//     callback with the error and retries indefinitely within one turn: the callback can only
//     close the listener. (Measured: 100,000 calls at EMFILE, and no other event between.)
//
// Here a failure is reported once, and accepting is suspended until the descriptors that are
// reserved for the rest of the process are free again. Connections wait in the backlog, except one
// that was accepted with a reserved descriptor: it is reset. So the loop does not spin, and does
// not stop accepting permanently. Accepts per turn are bounded, so that a reconnect storm shares
// the loop with connected clients.

import CLibUV
import Glibc

/// A listening socket.
@safe struct Listener {
    /// The state of all listeners of a loop: what keeps one from accepting keeps all.
    enum Phase: Equatable {
        /// Addresses are bound, and connections are rejected. To: `accepting`.
        case bound
        /// The sockets are polled. To: `suspended`.
        case accepting
        /// After a failure, until enough descriptors are free; the next check is after
        /// `milliseconds`. To: `accepting`.
        case suspended(milliseconds: UInt64)
    }

    let fd: CInt
    let poll: UnsafeMutablePointer<uv_poll_t>

    /// Bounds the accepts of a listener in a turn to about a millisecond.
    static let acceptsPerTurnMax = 64
    /// The time before the first check for free descriptors, and the longest: a check costs
    /// milliseconds if there are a hundred thousand descriptors.
    static let suspensionMilliseconds: UInt64 = 100
    static let suspensionMillisecondsMax: UInt64 = 800
    /// What the kernel keeps of the input of a connection that is not read. A segment of the
    /// loopback interface, of 64 KiB, must fit.
    static let kernelInputBytes: CInt = 1 << 17
    static let keepAliveSeconds: CInt = 60
    static let keepAliveProbeSeconds: CInt = 10
    static let keepAliveProbesMax: CInt = 6
}

extension Loop {
    /// Listens on a numeric IPv4 or IPv6 address; port 0 is any free port.
    ///
    /// For one listener; for several, `bind` each and then call `startListening`. Returns the bound
    /// address.
    public func listen(host: String, port: UInt16) throws(UVError) -> ListenAddress {
        let address = try bind(host: host, port: port)
        try startListening()
        return address
    }

    /// Binds a numeric IPv4 or IPv6 address, without listening; port 0 is any free port.
    ///
    /// May be called several times. The handler receives the number of the listener with each
    /// connection: that of the call, from 0.
    ///
    /// A client that connects before `startListening` is rejected immediately, and can retry. In a
    /// backlog that is not emptied it would wait, and for long if the backlog is full.
    public func bind(host: String, port: UInt16) throws(UVError) -> ListenAddress {
        precondition(listenerPhase == .bound, "bind after startListening")
        let wanted = try SocketAddress(host: host, port: port)
        let fd = try checkSystem(cuv_listening_socket(wanted.family), "socket")
        do throws(UVError) {
            try configure(fd)
            try bind(fd, wanted)
            let bound = try SocketAddress.bound(to: fd)
            try watch(fd)
            return bound.listenAddress
        } catch {
            _ = Glibc.close(fd)
            throw error
        }
    }

    /// Starts to accept connections. The kernel caps `backlog` at `net.core.somaxconn`.
    ///
    /// Fails if another socket listens on an address by now.
    public func startListening(backlog: CInt = 65_535) throws(UVError) {
        precondition(
            !listeners.isEmpty && listenerPhase == .bound, "startListening before bind, or twice")
        for listener in listeners {
            try checkSystem(Glibc.listen(listener.fd, backlog), "listen")
        }
        beginAccepting()
    }

    /// Closes the listening sockets, not the accepted connections; idempotent.
    public func stopListening() {
        guard !listeners.isEmpty else { return }
        unsafe uv_timer_stop(acceptBackoffTimer)
        for listener in listeners {
            unsafe uv_close(cuv_poll_handle(listener.poll), loopHandleClosed)
            // Safe here: uv_close has removed the descriptor from the poll set.
            _ = Glibc.close(listener.fd)
        }
        listeners = []
        listenerPhase = .bound
    }

    /// What the kernel keeps of the output that the client of an accepted connection does not read,
    /// which Linux doubles. By default it grows to 4 MiB.
    public static let kernelOutputBytes = 1 << 17

    // Accepted sockets inherit these options on Linux: that saves eight calls per connection.
    private func configure(_ fd: CInt) throws(UVError) {
        let options: [(level: CInt, name: CInt, value: CInt)] = [
            (SOL_SOCKET, SO_REUSEADDR, 1),
            (SOL_SOCKET, SO_KEEPALIVE, 1),
            (SOL_SOCKET, SO_RCVBUF, Listener.kernelInputBytes),
            (SOL_SOCKET, SO_SNDBUF, CInt(Self.kernelOutputBytes)),
            (CInt(IPPROTO_TCP), TCP_NODELAY, 1),
            (CInt(IPPROTO_TCP), TCP_KEEPIDLE, Listener.keepAliveSeconds),
            (CInt(IPPROTO_TCP), TCP_KEEPINTVL, Listener.keepAliveProbeSeconds),
            (CInt(IPPROTO_TCP), TCP_KEEPCNT, Listener.keepAliveProbesMax),
        ]
        for option in options {
            try checkSystem(
                cuv_set_option(fd, option.level, option.name, option.value), "setsockopt")
        }
    }

    private func bind(_ fd: CInt, _ address: SocketAddress) throws(UVError) {
        var storage = address.storage
        try checkSystem(
            unsafe Glibc.bind(fd, cuv_sockaddr(&storage), address.byteCount), "bind")
    }

    private func watch(_ fd: CInt) throws(UVError) {
        let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        let failure = unsafe uv_poll_init(uvLoop, poll, fd)
        guard failure == 0 else {
            // uv_poll_init checks before it registers the handle: there is nothing to close.
            unsafe poll.deallocate()
            throw UVError(code: failure, operation: "uv_poll_init")
        }
        // The number of the listener, not a pointer.
        unsafe poll.pointee.data = UnsafeMutableRawPointer(bitPattern: listeners.count)
        listeners.append(unsafe Listener(fd: fd, poll: poll))
    }

    private func beginAccepting() {
        listenerPhase = .accepting
        for listener in listeners {
            let failure = unsafe uv_poll_start(
                listener.poll, CInt(UV_READABLE.rawValue), listenerReadable)
            precondition(failure == 0, "a listening socket cannot be watched")
        }
    }

    private func suspend(_ error: UVError) {
        for listener in listeners { unsafe uv_poll_stop(listener.poll) }
        suspend(milliseconds: Listener.suspensionMilliseconds)
        handler?.acceptFailed(error)
    }

    private func suspend(milliseconds: UInt64) {
        listenerPhase = .suspended(milliseconds: milliseconds)
        // Timers start from the loop's cached time, which may be long ago.
        unsafe uv_update_time(uvLoop)
        unsafe uv_timer_start(acceptBackoffTimer, suspensionEnded, milliseconds, 0)
    }

    fileprivate func retryAccepting() {
        guard case .suspended(let milliseconds) = listenerPhase else { return }
        guard Descriptors.hasFree(descriptorsReserved + 1) else {
            return suspend(milliseconds: min(milliseconds * 2, Listener.suspensionMillisecondsMax))
        }
        beginAccepting()
    }

    /// The lowest descriptor that is reserved for the rest of the process. The kernel assigns the
    /// lowest free number, so all lower ones are in use.
    private var reservedFrom: Int {
        descriptorsReserved > 0 ? Descriptors.max - descriptorsReserved : .max
    }

    fileprivate func acceptReady(on number: Int, _ status: CInt) {
        guard status == 0 else { return suspend(UVError(code: status, operation: "uv_poll_start")) }
        let reservedFrom = reservedFrom
        for _ in 0..<Listener.acceptsPerTurnMax {
            // The handler may have closed the listeners.
            guard listenerPhase == .accepting, number < listeners.count else { return }
            let fd = cuv_accept(listeners[number].fd)
            if fd >= 0 {
                guard Int(fd) < reservedFrom else {
                    _ = Glibc.close(fd)
                    return suspend(UVError(code: UV_EMFILE.rawValue, operation: "accept4"))
                }
                if let handler, !handler.socketAccepted(fd, listener: number) {
                    handler.streamAccepted(adopt(fd), listener: number)
                }
                continue
            }
            switch AcceptFailure(errno) {
            case .nothingThere: return
            case .thatConnection: continue
            case .resources(let error): return suspend(error)
            }
        }
    }
}

/// The kinds of errors of accept4.
private enum AcceptFailure {
    case nothingThere
    /// The connection failed in the backlog; the next one may not.
    case thatConnection
    /// Out of descriptors or memory, or an unexpected error: retry later.
    case resources(UVError)

    init(_ code: CInt) {
        switch code {
        case EAGAIN, EWOULDBLOCK:
            self = .nothingThere
        case EINTR, ECONNABORTED, EPERM, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET,
            EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH:
            // accept(2), "Error handling": Linux passes on the new socket's pending errors.
            self = .thatConnection
        default:
            self = .resources(UVError(code: uv_translate_sys_error(code), operation: "accept4"))
        }
    }
}

// MARK: - Trampolines

private func listenerReadable(
    _ poll: UnsafeMutablePointer<uv_poll_t>?, _ status: CInt, _ events: CInt
) {
    unsafe withLoop(of: poll) { $0.acceptReady(on: Int(unsafe cuv_slot(poll)), status) }
}

private func suspensionEnded(_ timer: UnsafeMutablePointer<uv_timer_t>?) {
    unsafe withLoop(of: timer) { $0.retryAccepting() }
}
