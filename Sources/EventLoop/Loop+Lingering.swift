// Graceful close. close(2) on a socket with unread input sends RST, and RST makes the peer's kernel
// discard what it has received but not delivered, including the last frame (RFC 1122, 4.2.2.13;
// RFC 9112, 9.6 describes the same for HTTP). A client whose connection is closed is often sending.
// So a stream that is closed gracefully
//
//   1. writes what is pending, then FIN (uv_shutdown),
//   2. reads and discards input, so that the receive buffer is empty,
//   3. is closed when the peer's FIN has arrived, when the connection breaks, or after
//      `lingerMilliseconds`, whatever the peer does.
//
// All streams linger equally long, so a queue has their deadlines in order, and one timer is armed
// for the first. A stream that is closed earlier leaves a stale id in the queue, which is ignored.
// The handler receives nothing but `streamClosed` from a lingering stream.

import CLibUV
import Containers

/// The lingering streams, in the order of their deadlines.
@safe struct Linger {
    let timer: UnsafeMutablePointer<uv_timer_t>
    let milliseconds: UInt64
    var queue = Queue<(id: StreamID, deadline: UInt64)>()

    init(_ loop: UnsafeMutablePointer<uv_loop_t>, milliseconds: UInt64) {
        unsafe timer = .allocate(capacity: 1)
        unsafe uv_timer_init(loop, timer)
        self.milliseconds = milliseconds
    }

    /// Removes and returns the next stream whose deadline has passed.
    mutating func popDue(_ now: UInt64) -> StreamID? {
        guard let first = queue.first, first.deadline <= now else { return nil }
        return queue.popFirst()?.id
    }
}

extension Loop {
    /// Writes what is pending, sends FIN, and closes after the peer's FIN.
    ///
    /// Waits for the peer for at most `lingerMilliseconds`. The handler receives no more bytes and
    /// no `streamDrained`, only `streamClosed`. Idempotent; `close` ends it early.
    public func closeAfterWrites(_ id: StreamID) {
        guard let index = streams.index(of: id), streams[index].phase == .open,
            let tcp = unsafe streams[index].tcp
        else { return }
        streams[index].phase = .lingering
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        // uv_shutdown waits for the pending write.
        let failure = unsafe uv_shutdown(request, cuv_tcp_stream(tcp), streamShutDown)
        guard failure == 0 else {
            unsafe request.deallocate()
            return closeStream(index)
        }
        beginReading(index)
        unsafe uv_update_time(uvLoop)
        let deadline = unsafe uv_now(uvLoop) + linger.milliseconds
        linger.queue.append((id, deadline))
        armLingerTimer()
    }

    private func armLingerTimer() {
        guard unsafe uv_is_active(cuv_timer_handle(linger.timer)) == 0,
            let deadline = linger.queue.first?.deadline
        else { return }
        let now = unsafe uv_now(uvLoop)
        let wait = deadline > now ? deadline - now : 0
        unsafe uv_timer_start(linger.timer, lingerTimerFired, wait, 0)
    }

    fileprivate func shutDown(_ slot: UInt32, _ status: CInt) {
        let index = Int(slot)
        guard streams[index].phase == .lingering else { return }
        streams[index].activity.insert(.shutDown)
        let isOver = status < 0 || streams[index].activity.contains(.ended)
        if isOver { closeStream(index) }
    }

    fileprivate func lingerDeadlineReached() {
        while let id = linger.popDue(unsafe uv_now(uvLoop)) { close(id) }
        armLingerTimer()
    }
}

// MARK: - Trampolines

private func streamShutDown(_ request: UnsafeMutablePointer<uv_shutdown_t>?, _ status: CInt) {
    guard let request = unsafe request, let stream = unsafe request.pointee.handle else { return }
    unsafe withLoop(of: stream) { $0.shutDown(unsafe cuv_slot(stream), status) }
    unsafe request.deallocate()
}

private func lingerTimerFired(_ timer: UnsafeMutablePointer<uv_timer_t>?) {
    unsafe withLoop(of: timer) { $0.lingerDeadlineReached() }
}
