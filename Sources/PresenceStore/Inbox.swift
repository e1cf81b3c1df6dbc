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
        /// Whether something in the box must not wait.
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

    /// Sleeps until something comes, or for so long.
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

    /// Waits while nothing in the box presses, but no longer than so long: what nobody waits
    /// for is not worth a commit of its own each time.
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
        // Called between the end of the wait and here: that call is on its way and ours.
        if wasCalled { call.wait() }
        return wasCalled ? .called : .timedOut
    }
}

extension Inbox.State {
    /// Whether the thread sleeps, nobody has called it yet, and there is reason to.
    fileprivate mutating func wake() -> Bool {
        guard sleep == .untilAnything || sleep == .untilPressing && isPressing else {
            return false
        }
        sleep = .awake
        return true
    }
}
