internal import Glibc

/// Sockets in a directory, and the lines that are sent over them.
enum LocalSocket {
    /// A socket that only this user can connect to; nil if it cannot be made. What has its name is
    /// removed.
    static func listen(at path: String) -> CInt? {
        unsafe withAddress(of: path) { descriptor, address, length in
            _ = unsafe unlink(path)
            return unsafe fchmod(descriptor, 0o600) == 0
                && bind(descriptor, address, length) == 0 && Glibc.listen(descriptor, 4) == 0
        }
    }

    /// A connection to a socket, which waits at most `seconds` for it and in a read; nil and
    /// `errno` if no program listens.
    static func connect(to path: String, seconds: Int) -> CInt? {
        unsafe withAddress(of: path) { descriptor, address, length in
            var time = timeval(tv_sec: seconds, tv_usec: 0)
            let bytes = socklen_t(MemoryLayout<timeval>.size)
            for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
                guard unsafe setsockopt(descriptor, SOL_SOCKET, option, &time, bytes) == 0 else {
                    return false
                }
            }
            return unsafe Glibc.connect(descriptor, address, length) == 0
        }
    }

    /// Sends a line; one that the other end does not wait for is lost.
    static func send(_ line: String, to descriptor: CInt) {
        let bytes = Array(line.utf8)
        _ = unsafe Glibc.send(
            descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
    }

    /// The next line, without its end; nil if it does not come. Lines are short, and sent at once.
    static func line(from descriptor: CInt) -> String? {
        var bytes = [UInt8](repeating: 0, count: 256)
        var count = 0
        repeat {
            count = unsafe recv(descriptor, &bytes, bytes.count, 0)
        } while count < 0 && errno == EINTR
        guard count > 0, bytes[count - 1] == UInt8(ascii: "\n") else { return nil }
        return String(decoding: bytes[..<(count - 1)], as: UTF8.self)
    }

    /// Makes a socket and does something with it and the address of a path; nil if that fails.
    ///
    /// The address of a socket has 108 bytes, and a directory may have a longer path: its
    /// descriptor has a short one.
    private static func withAddress(
        of path: String,
        _ body: (CInt, UnsafePointer<sockaddr>, socklen_t) -> Bool
    ) -> CInt? {
        let (folder, name) = parts(of: path)
        let directory = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return nil }
        defer { closeOnce(directory) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let short = Array("/proc/self/fd/\(directory)/\(name)".utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard short.count < room else { return nil }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: short) }
        let descriptor = socket(
            AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let isMade = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe body(descriptor, pointer, length)
            }
        }
        guard !isMade else { return descriptor }
        let error = errno
        closeOnce(descriptor)
        errno = error
        return nil
    }

    private static func parts(of path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let name = String(path[path.utf8.index(after: slash)...])
        return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
    }
}
