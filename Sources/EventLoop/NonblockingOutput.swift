import CLibUV
import Glibc

/// Output to a descriptor that may be shared with others, such as standard error, without waiting
/// for its reader.
///
/// All processes that have inherited the descriptor share its flag `O_NONBLOCK` (open(2), "open
/// file description"), so it is not set there: a pipe or a terminal is opened again, and each call
/// for a socket has a flag of its own. A file is written to as it is, and a disk that hangs is
/// waited for.
public final class NonblockingOutput: Sendable {
    private enum Way {
        /// To this descriptor, which is its own.
        case opened(CInt)
        case socket
        /// If it counts as ready, which files always do.
        case ready
    }

    private let descriptor: CInt
    private let way: Way

    /// `descriptor` stays open as long as this is used, and is not closed by it.
    public init(_ descriptor: CInt) {
        self.descriptor = descriptor
        way = Self.way(to: descriptor)
    }

    deinit {
        if case .opened(let own) = way { Descriptors.close(own) }
    }

    private static func way(to descriptor: CInt) -> Way {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return .ready }
        switch status.st_mode & S_IFMT {
        case S_IFSOCK: return .socket
        case S_IFIFO: break
        case S_IFCHR where isatty(descriptor) == 1: break
        default: return .ready
        }
        let flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        let own = unsafe open("/proc/self/fd/\(descriptor)", flags)
        return own < 0 ? .ready : .opened(own)
    }

    /// Writes what is accepted now, all or a part. Returns the number of bytes.
    ///
    /// A pipe accepts up to 4,096 bytes as a whole or not at all (pipe(7), `PIPE_BUF`).
    public func write(_ bytes: [UInt8]) -> Int {
        switch way {
        case .opened(let own):
            return max(0, unsafe Glibc.write(own, bytes, bytes.count))
        case .socket:
            let flags = CInt(MSG_DONTWAIT) | CInt(MSG_NOSIGNAL)
            return max(0, unsafe send(descriptor, bytes, bytes.count, flags))
        case .ready:
            var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard unsafe poll(&state, 1, 0) == 1, state.revents & Int16(POLLOUT) != 0 else {
                return 0
            }
            return max(0, unsafe Glibc.write(descriptor, bytes, bytes.count))
        }
    }
}
