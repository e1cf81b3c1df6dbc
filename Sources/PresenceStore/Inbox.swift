internal import Dispatch
internal import Synchronization

/// Where submissions wait for the store's thread.
///
/// Adding is a lock and an append; the thread is woken only when it sleeps. What gathers
/// while it commits is taken out at once: that is the group commit.
final class Inbox: Sendable {
    /// What ended a wait.
    enum Wakening {
        /// Something came.
        case called
        /// Nothing came in time.
        case timedOut
    }

    /// What was in the box.
    struct Contents {
        var submissions: [Submission] = []
        /// Whether nothing will come after these.
        var isLast = false
    }

    fileprivate struct State {
        var contents = Contents()
        var isAsleep = false
    }

    private let state = Mutex(State())
    private let call = DispatchSemaphore(value: 0)

    func add(_ batch: consuming [Submission]) {
        let batch = batch
        let mustCall = state.withLock { state in
            precondition(!state.contents.isLast, "submit after stop")
            if state.contents.submissions.isEmpty {
                state.contents.submissions = batch
            } else {
                state.contents.submissions.append(contentsOf: batch)
            }
            return state.wake()
        }
        if mustCall { call.signal() }
    }

    func close() {
        let mustCall = state.withLock { state in
            state.contents.isLast = true
            return state.wake()
        }
        if mustCall { call.signal() }
    }

    func take() -> Contents {
        state.withLock { state in
            let contents = state.contents
            state.contents.submissions = []
            return contents
        }
    }

    /// Sleeps until something comes, or for so long.
    ///
    /// Only the store's thread may call it.
    func wait(milliseconds: Int?) -> Wakening {
        let mustSleep = state.withLock { state in
            state.isAsleep = state.contents.submissions.isEmpty && !state.contents.isLast
            return state.isAsleep
        }
        guard mustSleep else { return .called }
        guard let milliseconds else {
            call.wait()
            return .called
        }
        if call.wait(timeout: .now() + .milliseconds(milliseconds)) == .success { return .called }
        let wasCalled = state.withLock { state in
            defer { state.isAsleep = false }
            return !state.isAsleep
        }
        // Called between the end of the wait and here: that call is on its way and ours.
        if wasCalled { call.wait() }
        return wasCalled ? .called : .timedOut
    }
}

extension Inbox.State {
    /// Whether the thread sleeps and nobody has called it yet.
    fileprivate mutating func wake() -> Bool {
        defer { isAsleep = false }
        return isAsleep
    }
}
