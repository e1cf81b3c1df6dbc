import Foundation
import Synchronization

/// Set by the handler, which may do hardly more than that (signal-safety(7)).
private let isInterrupted = Atomic(false)

/// Notices ^C and SIGTERM instead of dying of them.
///
/// By a plain handler: a source of signals of Dispatch begins to listen some time after it was
/// told to, and one that comes in between is lost.
struct Interrupts {
    /// From now on.
    init() {
        // Here, so that the handler is not the first to touch it.
        isInterrupted.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in isInterrupted.store(true, ordering: .relaxed) }
        }
    }

    /// Has the next one end the process again.
    func end() {
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }

    /// Whether one has come.
    var hasCome: Bool { isInterrupted.load(ordering: .relaxed) }
}
