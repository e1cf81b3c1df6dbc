import Glibc

/// A blocking connection.
protocol ByteStream: AnyObject {
    /// Sends everything.
    func send(_ bytes: [UInt8]) throws(ClientError)
    /// The bytes received: nil after the timeout or a signal, empty at the end of the stream.
    func receive(withinMilliseconds timeout: Int) throws(ClientError) -> [UInt8]?
    /// Whether a signal has ended the last wait.
    var wasInterrupted: Bool { get }
    /// Half-closes the connection.
    func finishSending()
    /// Closes the connection.
    func shut()
}

/// A blocking TCP connection.
final class Socket: ByteStream {
    private let descriptor: CInt
    private var isOpen = true
    private(set) var wasInterrupted = false

    init(host: String, port: UInt16) throws(ClientError) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(host, String(port), &hints, &list) == 0 else {
            throw .unknownHost("\(host):\(port)")
        }
        defer { unsafe freeaddrinfo(list) }
        var failure = "no address"
        var next = unsafe list
        while let entry = unsafe next {
            let info = unsafe entry.pointee
            let descriptor = unsafe socket(info.ai_family, info.ai_socktype, info.ai_protocol)
            if descriptor >= 0 {
                if unsafe connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 {
                    var on: CInt = 1
                    let size = socklen_t(MemoryLayout<CInt>.size)
                    unsafe setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, size)
                    self.descriptor = descriptor
                    return
                }
                failure = unsafe String(cString: strerror(errno))
                close(descriptor)
            }
            unsafe next = unsafe info.ai_next
        }
        throw .cannotConnect("\(host):\(port)", failure)
    }

    /// Uses a connected socket, and owns it from now on.
    init(adopting descriptor: CInt) {
        self.descriptor = descriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    }

    deinit {
        if isOpen { close(descriptor) }
    }

    /// Closes the connection.
    func shut() {
        guard isOpen else { return }
        isOpen = false
        close(descriptor)
    }

    /// Half-closes the connection.
    func finishSending() {
        shutdown(descriptor, CInt(SHUT_WR))
    }

    /// Sends everything.
    func send(_ bytes: [UInt8]) throws(ClientError) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.send(
                    descriptor, buffer.baseAddress?.advanced(by: sent), buffer.count - sent,
                    CInt(MSG_NOSIGNAL))
            }
            if count < 0 {
                guard errno == EINTR else {
                    throw .connectionLost(unsafe String(cString: strerror(errno)))
                }
            } else {
                sent += count
            }
        }
    }

    /// The bytes received: nil after the timeout or a signal, empty at the end of the stream.
    func receive(withinMilliseconds timeout: Int) throws(ClientError) -> [UInt8]? {
        wasInterrupted = false
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let ready = unsafe Glibc.poll(&poll, 1, CInt(clamping: timeout))
        if ready == 0 { return nil }
        if ready < 0 {
            wasInterrupted = errno == EINTR
            if wasInterrupted { return nil }
            throw .connectionLost(unsafe String(cString: strerror(errno)))
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe buffer.withUnsafeMutableBytes { space in
            unsafe recv(descriptor, space.baseAddress, space.count, 0)
        }
        guard count >= 0 else {
            throw .connectionLost(unsafe String(cString: strerror(errno)))
        }
        buffer.removeLast(buffer.count - count)
        return buffer
    }
}
