internal import Dispatch
internal import Foundation

/// The queue of submissions for the store's thread.
///
/// Adding is a lock and an append; the thread is woken only when it sleeps. What arrives while it
/// commits is taken out together: that is the group commit.
final class Inbox: Sendable {
    /// Why a wait ended.
    enum WaitResult {
        /// Something arrived.
        case woken
        /// Nothing arrived in time.
        case timedOut
    }

    /// The content of the queue.
    struct Contents {
        var submissions: [Submission] = []
        var reads: [ReadRequest] = []
        var actions: [Action] = []
        /// Whether these are the last ones.
        var isLast = false

        var isEmpty: Bool { submissions.isEmpty && reads.isEmpty && actions.isEmpty }
    }

    /// What another thread has done with the writer.
    typealias Action = @Sendable (Writer) -> Void

    fileprivate struct State {
        var contents = Contents()
        /// Whether a submission in the queue must not wait.
        var isUrgent = false
        var sleep = Sleep.awake
    }

    /// The state behind a lock of pthread. The thread sanitizer does not see that what a `Mutex`
    /// guards is guarded, nor what is handed over by it: it would report every submission.
    private final class Locked: @unchecked Sendable {
        // SAFETY: `state` is touched only in `withLock`, by one thread at a time.
        private var state = State()
        private let lock = NSLock()

        func withLock<Result>(_ body: (inout State) -> Result) -> Result {
            lock.lock()
            defer { lock.unlock() }
            return body(&state)
        }
    }

    fileprivate enum Sleep {
        case awake
        case untilAnything
        case untilUrgent
    }

    private let state = Locked()
    private let wakeUp = DispatchSemaphore(value: 0)

    func add(_ batch: consuming [Submission]) {
        let batch = batch
        let isUrgent = batch.contains { !$0.canWait }
        let mustWake = state.withLock { state in
            precondition(!state.contents.isLast, "submit after stop")
            state.isUrgent = state.isUrgent || isUrgent
            if state.contents.submissions.isEmpty {
                state.contents.submissions = batch
            } else {
                state.contents.submissions.append(contentsOf: batch)
            }
            return state.wake()
        }
        if mustWake { wakeUp.signal() }
    }

    func add(_ read: ReadRequest) {
        let mustWake = state.withLock { state in
            precondition(!state.contents.isLast, "read after stop")
            state.isUrgent = true
            state.contents.reads.append(read)
            return state.wake()
        }
        if mustWake { wakeUp.signal() }
    }

    func add(_ action: @escaping Action) {
        let mustWake = state.withLock { state in
            precondition(!state.contents.isLast, "an action after stop")
            state.isUrgent = true
            state.contents.actions.append(action)
            return state.wake()
        }
        if mustWake { wakeUp.signal() }
    }

    func close() {
        let mustWake = state.withLock { state in
            precondition(!state.contents.isLast, "closed a second time")
            state.contents.isLast = true
            state.isUrgent = true
            return state.wake()
        }
        if mustWake { wakeUp.signal() }
    }

    func take() -> Contents {
        state.withLock { state in
            let contents = state.contents
            state.contents.submissions = []
            state.contents.reads = []
            state.contents.actions = []
            state.isUrgent = false
            return contents
        }
    }

    /// Sleeps until something arrives, at most for the given time.
    ///
    /// Only the store's thread may call it.
    func wait(milliseconds: Int?) -> WaitResult {
        let mustSleep = state.withLock { state in
            guard state.contents.isEmpty, !state.contents.isLast else { return false }
            state.sleep = .untilAnything
            return true
        }
        guard mustSleep else { return .woken }
        guard let milliseconds else {
            wakeUp.wait()
            return .woken
        }
        return sleep(milliseconds: milliseconds)
    }

    /// Waits while the queue contains only submissions that can wait, at most for the given time: a
    /// lazy status is not worth a commit of its own.
    ///
    /// Only the store's thread may call it.
    func gather(milliseconds: Int) {
        let mustSleep = state.withLock { state in
            guard !state.contents.submissions.isEmpty, !state.isUrgent else { return false }
            state.sleep = .untilUrgent
            return true
        }
        if mustSleep { _ = sleep(milliseconds: milliseconds) }
    }

    private func sleep(milliseconds: Int) -> WaitResult {
        if wakeUp.wait(timeout: .now() + .milliseconds(milliseconds)) == .success { return .woken }
        let wasWoken = state.withLock { state in
            defer { state.sleep = .awake }
            return state.sleep == .awake
        }
        // Woken between the end of the wait and here: the semaphore has one more signal to
        // consume.
        if wasWoken { wakeUp.wait() }
        return wasWoken ? .woken : .timedOut
    }
}

extension Inbox.State {
    /// Whether the thread sleeps, has not been woken yet, and there is reason to.
    fileprivate mutating func wake() -> Bool {
        guard sleep == .untilAnything || sleep == .untilUrgent && isUrgent else {
            return false
        }
        sleep = .awake
        return true
    }
}
