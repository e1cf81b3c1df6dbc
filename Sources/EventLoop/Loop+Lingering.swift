// The end that the peer can read. close(2) on a socket with unread input sends RST, and RST makes
// the peer's kernel throw away what it has received but not delivered, our last frame with it
// (RFC 1122, 4.2.2.13; RFC 9112, 9.6 describes the same for HTTP). A client that is being told to
// go is often in the middle of sending. So a stream that says goodbye
//
//   1. writes what is pending, then FIN (uv_shutdown),
//   2. reads on and throws away, so that the receive buffer is empty,
//   3. is closed when the peer's FIN has come, when the connection breaks, or after
//      `lingerMilliseconds`, whatever the peer does.
//
// All streams linger equally long, so the deadlines stand in a queue in their order, and one timer
// is armed for the first. A stream that is closed sooner leaves a stale id there, which nobody
// misses. The handler hears nothing but `streamClosed` from a stream that lingers.

import CLibUV

/// The streams that say goodbye, in the order of their deadlines.
@safe struct Linger {
    let timer: UnsafeMutablePointer<uv_timer_t>
    let milliseconds: UInt64
    var queue: [(id: StreamID, deadline: UInt64)] = []
    var first = 0

    init(_ loop: UnsafeMutablePointer<uv_loop_t>, milliseconds: UInt64) {
        unsafe timer = .allocate(capacity: 1)
        unsafe uv_timer_init(loop, timer)
        self.milliseconds = milliseconds
    }

    /// Takes the next one whose time has come.
    mutating func popDue(_ now: UInt64) -> StreamID? {
        guard first < queue.count, queue[first].deadline <= now else { return nil }
        let id = queue[first].id
        first += 1
        // Given back in halves, so that each entry is moved once on average.
        if first * 2 > queue.count {
            queue.removeFirst(first)
            first = 0
        }
        return id
    }
}

extension Loop {
    /// Writes what is pending, says FIN, and closes when the peer has done the same.
    ///
    /// The peer is waited for at most `lingerMilliseconds`. Reading and `streamDrained` stop for
    /// the handler at once; `streamClosed` comes. Idempotent; `close` cuts it short.
    public func closeAfterWrites(_ id: StreamID) {
        guard let index = streams.index(of: id), streams[index].phase == .open,
            let tcp = unsafe streams[index].tcp
        else { return }
        streams[index].phase = .lingering
        let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
        // It waits for the pending write by itself.
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
            linger.first < linger.queue.count
        else { return }
        let now = unsafe uv_now(uvLoop)
        let deadline = linger.queue[linger.first].deadline
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
