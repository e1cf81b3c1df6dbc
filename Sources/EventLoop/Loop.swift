// A libuv loop, its connections and its few fixed handles, owned by one thread.
//
// Ownership. `uv_loop_t.data` points to the Loop, unretained: libuv calls back only inside `run`
// and `close()`, which a caller makes on a Loop it holds. Every handle is memory of its own,
// allocated before `uv_…_init` and freed in its close callback, never sooner. Swift keeps the
// handler alive from `run` to the end of `close()`; a Loop must be closed before it is released.
//
// A turn of libuv: due timers, then the prepare callback, then waiting and I/O, then closed
// handles. `turnEnded` comes from *prepare*, not from uv_check: timers run between check and the
// next wait, and what `timerFired` puts into outboxes would otherwise wait as long as the
// poll does. Prepare is the last thing before each wait, the first one included.
//
// The Loop is not Sendable: the compiler keeps other threads out, no lock or check does.

import CLibUV
import Glibc

/// One thread's event loop: listeners, their connections, one timer, signals and a wake-up.
@safe public final class Loop {
    /// Lets other threads cause a call of `wokenUp`.
    public let wakeup: Wakeup

    let uvLoop: UnsafeMutablePointer<uv_loop_t>
    /// One buffer for all reads: on Unix libuv asks for it, reads and calls back in one go.
    let readBuffer: UnsafeMutableRawBufferPointer
    var readBudget = ReadBudget()
    var streams = StreamTable()
    var handler: (any LoopHandler)?
    var deadlineTimer: DeadlineTimer
    var linger: Linger
    var listeners: [Listener] = []
    var listenerPhase = Listener.Phase.bound
    let acceptBackoffTimer: UnsafeMutablePointer<uv_timer_t>
    /// Descriptors that connections leave to the rest of the process.
    let descriptorsReserved: Int
    let measured = MemoryMeasurement()
    var signals: [UnsafeMutablePointer<uv_signal_t>] = unsafe []

    private let turnEnd: UnsafeMutablePointer<uv_prepare_t>
    private let wakeupPoll: UnsafeMutablePointer<uv_poll_t>
    private let wakeupDescriptor: CInt
    private var life = Life.ready

    private enum Life {
        case ready, running, closed
    }

    /// The most descriptors that a loop takes beside its connections.
    public static let descriptorsMax = 8
    /// A loop with nothing to do yet; SIGPIPE is ignored from now on in the whole process.
    ///
    /// `lingerMilliseconds` is how long `closeAfterWrites` waits for the peer. While fewer than
    /// `descriptorsReserved` descriptors are free in the process, no connection is accepted. Fails
    /// when there are no descriptors left (the loop takes about six).
    public init(
        lingerMilliseconds: UInt64 = 2_000, descriptorsReserved: Int = 0
    ) throws(UVError) {
        precondition(descriptorsReserved >= 0)
        self.descriptorsReserved = descriptorsReserved
        // A write to a connection that the peer has reset is an error code, not a signal.
        signal(SIGPIPE, SIG_IGN)
        unsafe uvLoop = .allocate(capacity: 1)
        let failure = unsafe uv_loop_init(uvLoop)
        guard failure == 0 else {
            unsafe uvLoop.deallocate()
            throw UVError(code: failure, operation: "uv_loop_init")
        }
        // Before the handles: nothing after it can fail, so that there is one way back.
        do throws(UVError) {
            wakeup = try Wakeup()
        } catch {
            precondition(unsafe uv_loop_close(uvLoop) == 0)
            unsafe uvLoop.deallocate()
            throw error
        }
        wakeupDescriptor = wakeup.polled
        unsafe wakeupPoll = .allocate(capacity: 1)
        // It fails for descriptors that cannot be polled, or are polled already.
        precondition(unsafe uv_poll_init(uvLoop, wakeupPoll, wakeupDescriptor) == 0)
        unsafe turnEnd = .allocate(capacity: 1)
        unsafe uv_prepare_init(uvLoop, turnEnd)
        unsafe acceptBackoffTimer = .allocate(capacity: 1)
        unsafe uv_timer_init(uvLoop, acceptBackoffTimer)
        deadlineTimer = unsafe DeadlineTimer(uvLoop)
        linger = unsafe Linger(uvLoop, milliseconds: lingerMilliseconds)
        unsafe readBuffer = .allocate(byteCount: ReadBudget.readBytesMax, alignment: 16)
        unsafe uvLoop.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        unsafe uv_prepare_start(turnEnd, loopTurnEnded)
        unsafe uv_poll_start(wakeupPoll, CInt(UV_READABLE.rawValue), loopWokenUp)
    }

    deinit {
        precondition(life == .closed, "a Loop is closed before it is released")
        unsafe readBuffer.deallocate()
        unsafe uvLoop.deallocate()
    }

    /// Connections that are not completely closed yet.
    public var streamCount: Int { streams.openCount }

    /// Runs the loop until `stop()`; may be called again after that.
    ///
    /// The handler is kept until `close()`, so that it is called for every stream's end.
    public func run(_ handler: any LoopHandler) {
        precondition(life == .ready, "run on a loop that runs or is closed")
        self.handler = handler
        life = .running
        wakeup.beginTurns()
        unsafe uv_run(uvLoop, UV_RUN_DEFAULT)
        life = .ready
        // The turn in which stop() came has had its I/O, but no prepare after it.
        turnEnded()
        wakeup.endTurns()
    }

    /// Makes `run` return after this turn; a no-op while the loop does not run.
    public func stop() {
        // libuv would keep the request and end the next run before its first turn.
        guard life == .running else { return }
        unsafe uv_stop(uvLoop)
    }

    /// Closes the listeners, every connection and the loop; afterwards nothing may be called.
    ///
    /// What waits to be written is dropped. `streamClosed` is called for every stream.
    public func close() {
        precondition(life == .ready, "close of a loop that runs or is closed")
        life = .closed
        stopListening()
        for slot in 0..<streams.capacity { close(streams.id(slot)) }
        unsafe uv_close(cuv_poll_handle(wakeupPoll), loopHandleClosed)
        unsafe uv_close(cuv_prepare_handle(turnEnd), loopHandleClosed)
        unsafe uv_close(cuv_timer_handle(acceptBackoffTimer), loopHandleClosed)
        unsafe uv_close(cuv_timer_handle(deadlineTimer.timer), loopHandleClosed)
        unsafe uv_close(cuv_timer_handle(linger.timer), loopHandleClosed)
        while let signal = unsafe signals.popLast() {
            unsafe uv_close(cuv_signal_handle(signal), loopHandleClosed)
        }
        while unsafe uv_run(uvLoop, UV_RUN_DEFAULT) != 0 {}
        precondition(streams.openCount == 0, "a stream is left in a closed loop")
        precondition(unsafe uv_loop_close(uvLoop) == 0, "a handle is left in a closed loop")
        wakeup.close()
        handler = nil
    }

    func turnEnded() {
        readBudget.beginTurn()
        handler?.turnEnded()
        applyTimer()
        wakeup.endTurn()
    }

    fileprivate func wokenUp() {
        wakeup.takePending(wakeupDescriptor)
        handler?.wokenUp()
    }
}

// MARK: - Trampolines

/// Runs `body` with the loop that a handle belongs to, without a retain.
func withLoop(of handle: UnsafeRawPointer?, _ body: (Loop) -> Void) {
    guard let handle = unsafe handle, let owner = unsafe cuv_owner(handle) else { return }
    unsafe Unmanaged<Loop>.fromOpaque(owner)._withUnsafeGuaranteedRef { body($0) }
}

private func loopTurnEnded(_ prepare: UnsafeMutablePointer<uv_prepare_t>?) {
    unsafe withLoop(of: prepare) { $0.turnEnded() }
}

private func loopWokenUp(_ poll: UnsafeMutablePointer<uv_poll_t>?, _ status: CInt, _: CInt) {
    unsafe withLoop(of: poll) { $0.wokenUp() }
}

/// The close callback of every handle that is not a stream: frees its memory.
func loopHandleClosed(_ handle: UnsafeMutablePointer<uv_handle_t>?) {
    unsafe UnsafeMutableRawPointer(handle)?.deallocate()
}
