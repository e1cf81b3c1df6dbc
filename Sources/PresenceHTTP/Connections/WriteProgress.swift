import Glibc
import NIOCore

/// Finds out that a client reads what is written to it too slowly: less than a few KiB a second,
/// for longer than it may read nothing. So a client cannot hold a connection by a byte now and
/// then.
///
/// NIO says when much of what it holds has been written. With a full send buffer, the client has to
/// read a third of that first, for which a slow client takes longer than it may read nothing. So
/// this looks once a second how many of the bytes the client has acknowledged.
///
/// On the event loop only. While it watches, the response is not continued.
final class WriteProgress {
    /// The bytes that a client has to read in a second.
    static let bytesPerSecond = 4_096

    private let loop: any EventLoop
    private let creditMax: Int
    private let unacknowledgedBytes: () -> Int
    private let whenStalled: () -> Void
    private var timer: Scheduled<Void>?
    private var leastBytes = 0
    /// What it may be behind: bytes.
    private var credit: Int

    /// Calls `whenStalled` when a client is behind by what it has to read in `seconds`, in the time
    /// in which it is watched.
    init(
        on loop: any EventLoop, seconds: Int, unacknowledgedBytes: @escaping () -> Int,
        whenStalled: @escaping () -> Void
    ) {
        self.loop = loop
        creditMax = seconds * Self.bytesPerSecond
        credit = creditMax
        self.unacknowledgedBytes = unacknowledgedBytes
        self.whenStalled = whenStalled
    }

    /// Begins to watch, or continues. A no-op while it does.
    func begin() {
        guard timer == nil else { return }
        leastBytes = unacknowledgedBytes()
        scheduleLook()
    }

    /// Watches no more. What the client is behind is kept for the rest of the response.
    func end() {
        timer?.cancel()
        timer = nil
    }

    /// Another response begins: the client is not behind.
    func renew() { credit = creditMax }

    private func scheduleLook() {
        let bound = NIOLoopBound(self, eventLoop: loop)
        timer = loop.scheduleTask(in: .seconds(1)) { bound.value.look() }
    }

    private func look() {
        let bytes = unacknowledgedBytes()
        let acknowledged = max(0, leastBytes - bytes)
        credit = min(creditMax, credit - Self.bytesPerSecond + acknowledged)
        leastBytes = min(bytes, leastBytes)
        guard credit > 0 else {
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
