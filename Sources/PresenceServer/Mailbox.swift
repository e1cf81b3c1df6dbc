import EventLoop
import PresenceStore

/// What the store, the threads for tokens and passwords, and `ServiceControl` have for the engine
/// host. What loops on other threads have for it crosses by `LinkBox`.
///
/// A queue behind a lock, and a wake-up. The engine host's loop takes all of it at once.
final class Mailbox: Sendable {
    /// What has been left since the engine host's loop last looked.
    struct Contents: Sendable {
        var outcomes: [Outcome] = []
        var tokens: [TokenResult] = []
        var reads: [ReadOutcome] = []
        var passwords: [PasswordResult] = []
        /// Loops in process that are to be added.
        var boxes: [LinkBox] = []
        /// The next configuration; the last one counts.
        var configuration: Configuration?
        var isToStop = false
        /// The service has ended: nothing is taken any more.
        var isClosed = false
    }

    private let contents = Guarded(Contents())
    private let boxCount = Guarded(0)
    private let wakeup: Wakeup

    init(_ wakeup: Wakeup) {
        self.wakeup = wakeup
    }

    /// Leaves what the store has to report. Any thread.
    func post(_ batch: [Outcome]) {
        leave { $0.outcomes.append(contentsOf: batch) }
    }

    /// Leaves what has become of a token. Any thread.
    func post(_ result: TokenResult) {
        leave { $0.tokens.append(result) }
    }

    /// Leaves what the store has read. Any thread.
    func post(_ reads: [ReadOutcome]) {
        leave { $0.reads.append(contentsOf: reads) }
    }

    /// Leaves what has become of a password. Any thread.
    func post(_ result: PasswordResult) {
        leave { $0.passwords.append(result) }
    }

    /// Leaves a box for a loop in process, made for the next number. Returns nil if the service has
    /// ended. Any thread.
    func addBox(_ make: (_ number: Int) -> LinkBox) -> LinkBox? {
        let box = contents.withLock { contents -> LinkBox? in
            guard !contents.isClosed else { return nil }
            return boxCount.withLock { count in
                precondition(count < LoopCount.inProcessMax, "too many loops in process")
                let box = make(count)
                count += 1
                contents.boxes.append(box)
                return box
            }
        }
        wakeup.wake()
        return box
    }

    /// Leaves the next configuration. Any thread.
    func post(_ configuration: Configuration) {
        leave { $0.configuration = configuration }
    }

    /// Asks for the end of the service. Any thread.
    func postStop() {
        leave { $0.isToStop = true }
    }

    private func leave(_ change: (inout Contents) -> Void) {
        contents.withLock(change)
        wakeup.wake()
    }

    /// Has the engine host's loop go round once. Any thread.
    func wakeHost() { wakeup.wake() }

    /// Takes all queued items. The engine host's thread.
    func take() -> Contents {
        contents.withLock { contents in
            defer { contents = Contents() }
            return contents
        }
    }

    /// Takes nothing more, and gives back what is left. When the loops have ended.
    func close() -> Contents {
        contents.withLock { contents in
            defer {
                contents = Contents()
                contents.isClosed = true
            }
            return contents
        }
    }
}
