import Glibc
import NIOCore

/// Finds out that a client no longer reads what is written to it.
///
/// NIO says when much of what it holds has been written. With a full send buffer, the client has to
/// read a third of that first, for which a slow client takes longer than it may read nothing. So
/// this looks once a second whether the client has acknowledged any of the bytes.
///
/// On the event loop only. While it watches, the response is not continued.
final class WriteProgress {
    private let loop: any EventLoop
    private let seconds: Int
    private let unacknowledgedBytes: () -> Int
    private let whenStalled: () -> Void
    private var timer: Scheduled<Void>?
    private var leastBytes = 0
    private var looksLeft = 0

    /// Calls `whenStalled` if none of the bytes are acknowledged for `seconds`.
    init(
        on loop: any EventLoop, seconds: Int, unacknowledgedBytes: @escaping () -> Int,
        whenStalled: @escaping () -> Void
    ) {
        self.loop = loop
        self.seconds = seconds
        self.unacknowledgedBytes = unacknowledgedBytes
        self.whenStalled = whenStalled
    }

    /// Begins to watch. A no-op while it does.
    func begin() {
        guard timer == nil else { return }
        leastBytes = unacknowledgedBytes()
        looksLeft = seconds
        scheduleLook()
    }

    func end() {
        timer?.cancel()
        timer = nil
    }

    private func scheduleLook() {
        let bound = NIOLoopBound(self, eventLoop: loop)
        timer = loop.scheduleTask(in: .seconds(1)) { bound.value.look() }
    }

    private func look() {
        let bytes = unacknowledgedBytes()
        looksLeft = bytes < leastBytes ? seconds : looksLeft - 1
        leastBytes = min(bytes, leastBytes)
        guard looksLeft > 0 else {
            timer = nil
            return whenStalled()
        }
        scheduleLook()
    }
}

extension Channel {
    /// The bytes that NIO and the kernel hold for the client. On the event loop only.
    var unacknowledgedBytes: Int {
        let inNIO = try? syncOptions?.getOption(.bufferedWritableBytes)
        let inKernel = try? pipeline.syncOperations.withUnsafeTransportIfAvailable {
            (socket: NIOBSDSocket.Handle) in
            var count: CInt = 0
            // SIOCOUTQ, by the name that it has for terminals.
            return unsafe ioctl(socket, UInt(TIOCOUTQ), &count) == 0 ? Int(count) : 0
        }
        return (inNIO ?? 0) + (inKernel ?? 0)
    }
}
