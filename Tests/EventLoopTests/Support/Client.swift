import Glibc

/// A plain blocking socket: the other end, without libuv.
final class Client: @unchecked Sendable {
    // SAFETY: `fd` changes only in `close`, and each test uses a client from one thread at a time.
    private var fd: CInt

    enum Ending: Equatable {
        case endOfFile
        case failed(CInt)
    }

    init(port: UInt16) throws {
        // A child that another test starts would keep it open after `close`: no end would be sent.
        fd = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard fd >= 0 else { throw TestClientError(code: errno) }
        // A lost byte becomes a failure instead of a test that hangs.
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            fd, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, length) }
        }
        guard result == 0 else { throw TestClientError(code: errno) }
    }

    deinit { close() }

    var localPort: UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = getsockname(fd, $0, &length)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(fd, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }

    /// Sends as much as fits without waiting, and answers how many bytes that was.
    func sendWhatFits(_ bytes: [UInt8]) -> Int {
        let flags = CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT)
        return bytes.withUnsafeBytes { Glibc.send(fd, $0.baseAddress, bytes.count, flags) }
    }

    /// Waits for exactly `count` bytes; fewer at the stream's end.
    func receive(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard case .success(let more) = receiveSome(count - bytes.count), !more.isEmpty else {
                break
            }
            bytes += more
        }
        return bytes
    }

    /// Everything up to the end, and which end it was.
    func receiveToEnd() -> (bytes: [UInt8], ending: Ending) {
        var bytes: [UInt8] = []
        while true {
            switch receiveSome(65_536) {
            case .success(let more) where more.isEmpty: return (bytes, .endOfFile)
            case .success(let more): bytes += more
            case .failure(let error): return (bytes, .failed(error.code))
            }
        }
    }

    private func receiveSome(_ countMax: Int) -> Result<[UInt8], TestClientError> {
        var failure: CInt = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: countMax) { buffer, count in
            let result = recv(fd, buffer.baseAddress, countMax, 0)
            failure = result < 0 ? errno : 0
            count = max(result, 0)
        }
        return failure == 0 ? .success(bytes) : .failure(TestClientError(code: failure))
    }

    /// Says FIN and goes on reading.
    func finish() { shutdown(fd, CInt(SHUT_WR)) }

    /// Makes the kernel send RST.
    func reset() {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    func close() {
        guard fd >= 0 else { return }
        _ = Glibc.close(fd)
        fd = -1
    }
}

struct TestClientError: Error {
    let code: CInt
}
