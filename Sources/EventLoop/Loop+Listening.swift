// Listening and accepting. The listening socket is ours and libuv only watches it (`uv_poll_t`),
// instead of `uv_listen`. The reason is what libuv 1.44 does when descriptors run out:
//
//   * At EMFILE and ENFILE it gives up a reserve descriptor, accepts and closes *everybody* in
//     the backlog, takes the reserve back, and tells nobody (`uv__emfile_trick`).
//   * Without the reserve, and at ENOBUFS and ENOMEM, `uv__server_io` calls the connection
//     callback with the error and tries again, without end, inside one turn: the callback can
//     only close the listener. (Measured: 100,000 calls at EMFILE, and no other event between.)
//
// Here a failure is reported once, and accepting rests until the descriptors that are reserved for
// the rest of the process are free again. Connections wait in the backlog meanwhile, except one
// that was accepted with a reserved descriptor: it is reset. So there is no spinning and no
// stopping for good. Accepts per turn are bounded, so that a reconnect storm shares the loop with
// the clients that are connected; and a paused listener accepts nothing (libuv's holds one
// accepted connection in limbo).

import CLibUV
import Glibc

/// The listening socket and whether it is watched.
@safe struct Listener {
    enum Phase: Equatable {
        /// The address is ours; who connects is refused. Exits: accepting.
        case bound
        /// The socket is watched. Exits: resting, paused.
        case accepting
        /// After a failure, until a look at the descriptors finds enough of them free, the next
        /// one after `milliseconds`. Exits: accepting, paused.
        case resting(milliseconds: UInt64)
        /// Until `resumeAccepting`. Exits: accepting.
        case paused
    }

    let fd: CInt
    let poll: UnsafeMutablePointer<uv_poll_t>
    var phase = Phase.bound

    /// A turn's share: about a millisecond of accept4 and what belongs to it.
    static let acceptsPerTurnMax = 64
    /// How long a rest is before the first look, and at most: a look costs milliseconds where
    /// there are a hundred thousand descriptors.
    static let restMilliseconds: UInt64 = 100
    static let restMillisecondsMax: UInt64 = 800
    static let keepAliveSeconds: CInt = 60
    static let keepAliveProbeSeconds: CInt = 10
    static let keepAliveProbesMax: CInt = 6
}

extension Loop {
    /// Listens at a numeric IPv4 or IPv6 address; port 0 is any.
    ///
    /// One listener per loop. Answers the address really bound.
    public func listen(host: String, port: UInt16) throws(UVError) -> ListenAddress {
        let address = try bind(host: host, port: port)
        try startListening()
        return address
    }

    /// Makes a numeric IPv4 or IPv6 address ours, port 0 being any, and lets nobody in yet.
    ///
    /// Who connects before `startListening` is refused at once, and tries again. In a backlog
    /// that nobody empties he would wait, and those for whom there is no room in it for long.
    public func bind(host: String, port: UInt16) throws(UVError) -> ListenAddress {
        precondition(listener == nil, "bind while bound")
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

    /// Lets connections in. The kernel caps `backlog` at `net.core.somaxconn`.
    ///
    /// Fails when somebody else has begun to listen at the address since it was bound.
    public func startListening(backlog: CInt = 65_535) throws(UVError) {
        guard let listener, listener.phase == .bound else {
            preconditionFailure("startListening without an address, or twice")
        }
        try checkSystem(Glibc.listen(listener.fd, backlog), "listen")
        beginAccepting()
    }

    /// Leaves new connections in the backlog until `resumeAccepting`; idempotent.
    public func pauseAccepting() {
        guard let phase = listener?.phase, phase != .paused, phase != .bound else { return }
        listener?.phase = .paused
        unsafe uv_timer_stop(acceptBackoffTimer)
        if let poll = unsafe listener?.poll { unsafe uv_poll_stop(poll) }
    }

    /// Takes new connections again; idempotent.
    public func resumeAccepting() {
        guard listener?.phase == .paused else { return }
        beginAccepting()
    }

    /// Closes the listening socket; who is in stays; idempotent.
    public func stopListening() {
        guard let listener = listener else { return }
        unsafe uv_timer_stop(acceptBackoffTimer)
        unsafe uv_close(cuv_poll_handle(listener.poll), loopHandleClosed)
        // Allowed at once: uv_close has taken the descriptor out of the poll set.
        _ = Glibc.close(listener.fd)
        self.listener = nil
    }

    // Accepted sockets inherit these on Linux: once here instead of five calls per connection.
    private func configure(_ fd: CInt) throws(UVError) {
        let options: [(level: CInt, name: CInt, value: CInt)] = [
            (SOL_SOCKET, SO_REUSEADDR, 1),
            (SOL_SOCKET, SO_KEEPALIVE, 1),
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
            // uv_poll_init checks before it makes the handle known: there is nothing to close.
            unsafe poll.deallocate()
            throw UVError(code: failure, operation: "uv_poll_init")
        }
        listener = unsafe Listener(fd: fd, poll: poll)
    }

    private func beginAccepting() {
        guard let poll = unsafe listener?.poll else { return }
        listener?.phase = .accepting
        let failure = unsafe uv_poll_start(poll, CInt(UV_READABLE.rawValue), listenerReadable)
        precondition(failure == 0, "a listening socket cannot be watched")
    }

    private func rest(_ error: UVError) {
        if let poll = unsafe listener?.poll { unsafe uv_poll_stop(poll) }
        rest(milliseconds: Listener.restMilliseconds)
        handler?.acceptFailed(error)
    }

    private func rest(milliseconds: UInt64) {
        listener?.phase = .resting(milliseconds: milliseconds)
        // Timers begin at the time that the loop last looked at, which may be long ago.
        unsafe uv_update_time(uvLoop)
        unsafe uv_timer_start(acceptBackoffTimer, restOver, milliseconds, 0)
    }

    fileprivate func restIsOver() {
        guard case .resting(let milliseconds) = listener?.phase else { return }
        guard Descriptors.hasFree(descriptorsReserved + 1) else {
            return rest(milliseconds: min(milliseconds * 2, Listener.restMillisecondsMax))
        }
        beginAccepting()
    }

    /// From which number on descriptors are left to the rest of the process. The kernel gives the
    /// lowest free number, so all below one that it has given are in use.
    private var reservedFrom: Int {
        descriptorsReserved > 0 ? Descriptors.max - descriptorsReserved : .max
    }

    fileprivate func acceptReady(_ status: CInt) {
        guard status == 0 else { return rest(UVError(code: status, operation: "uv_poll_start")) }
        let reservedFrom = reservedFrom
        for _ in 0..<Listener.acceptsPerTurnMax {
            // The handler may have paused or closed the listener meanwhile.
            guard let listener = listener, listener.phase == .accepting else { return }
            let fd = cuv_accept(listener.fd)
            if fd >= 0 {
                guard Int(fd) < reservedFrom else {
                    _ = Glibc.close(fd)
                    return rest(UVError(code: UV_EMFILE.rawValue, operation: "accept4"))
                }
                handler?.streamAccepted(adopt(fd))
                continue
            }
            switch AcceptFailure(errno) {
            case .nothingThere: return
            case .thatConnection: continue
            case .resources(let error): return rest(error)
            }
        }
    }
}

/// What an errno of accept4 asks for.
private enum AcceptFailure {
    case nothingThere
    /// The connection died in the backlog; the next one may be well.
    case thatConnection
    /// Descriptors or memory are short, or something unforeseen: rest, and try again.
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
    unsafe withLoop(of: poll) { $0.acceptReady(status) }
}

private func restOver(_ timer: UnsafeMutablePointer<uv_timer_t>?) {
    unsafe withLoop(of: timer) { $0.restIsOver() }
}
