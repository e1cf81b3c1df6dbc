internal import Dispatch
internal import Synchronization

/// The queue of submissions for the store's thread.
///
/// Adding is a lock and an append; the thread is woken only when it sleeps. What arrives while it
/// commits is taken out at once: that is the group commit.
final class Inbox: Sendable {
    /// Why a wait ended.
    enum Wakening {
        /// Something arrived.
        case called
        /// Nothing arrived in time.
        case timedOut
    }

    /// The content of the queue.
    struct Contents {
        var submissions: [Submission] = []
        /// Whether these are the last ones.
        var isLast = false
    }

    fileprivate struct State {
        var contents = Contents()
        /// Whether something in the queue must not wait.
        var isPressing = false
        var sleep = Sleep.awake
    }

    fileprivate enum Sleep {
        case awake
        case untilAnything
        case untilPressing
    }

    private let state = Mutex(State())
    private let call = DispatchSemaphore(value: 0)

    func add(_ batch: consuming [Submission]) {
        let batch = batch
        let isPressing = batch.contains { !$0.isPatient }
        let mustCall = state.withLock { state in
            precondition(!state.contents.isLast, "submit after stop")
            state.isPressing = state.isPressing || isPressing
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
            state.isPressing = true
            return state.wake()
        }
        if mustCall { call.signal() }
    }

    func take() -> Contents {
        state.withLock { state in
            let contents = state.contents
            state.contents.submissions = []
            state.isPressing = false
            return contents
        }
    }

    /// Sleeps until something arrives, at most for the given time.
    ///
    /// Only the store's thread may call it.
    func wait(milliseconds: Int?) -> Wakening {
        let mustSleep = state.withLock { state in
            guard state.contents.submissions.isEmpty, !state.contents.isLast else { return false }
            state.sleep = .untilAnything
            return true
        }
        guard mustSleep else { return .called }
        guard let milliseconds else {
            call.wait()
            return .called
        }
        return sleep(milliseconds: milliseconds)
    }

    /// Waits while the queue contains only what may wait, at most for the given time: a lazy status
    /// is not worth a commit of its own.
    ///
    /// Only the store's thread may call it.
    func gather(milliseconds: Int) {
        let mustSleep = state.withLock { state in
            guard !state.contents.submissions.isEmpty, !state.isPressing else { return false }
            state.sleep = .untilPressing
            return true
        }
        if mustSleep { _ = sleep(milliseconds: milliseconds) }
    }

    private func sleep(milliseconds: Int) -> Wakening {
        if call.wait(timeout: .now() + .milliseconds(milliseconds)) == .success { return .called }
        let wasCalled = state.withLock { state in
            defer { state.sleep = .awake }
            return state.sleep == .awake
        }
        // Called between the end of the wait and here: the semaphore has one more signal to
        // consume.
        if wasCalled { call.wait() }
        return wasCalled ? .called : .timedOut
    }
}

extension Inbox.State {
    /// Whether the thread sleeps, has not been called yet, and there is reason to.
    fileprivate mutating func wake() -> Bool {
        guard sleep == .untilAnything || sleep == .untilPressing && isPressing else {
            return false
        }
        sleep = .awake
        return true
    }
}
