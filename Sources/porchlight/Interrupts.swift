import Foundation
import Synchronization

/// Set by the handler, which may do little more than that (signal-safety(7)).
private let isInterrupted = Atomic(false)

/// Notices ^C and SIGTERM instead of being killed by them.
///
/// By a plain handler: a Dispatch signal source starts to listen some time after it is activated,
/// and a signal in between is lost.
struct Interrupts {
    /// Installs the handlers.
    init() {
        // Here, so that the handler is not the first to access it.
        isInterrupted.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in isInterrupted.store(true, ordering: .relaxed) }
        }
    }

    /// Restores the default: the next signal ends the process.
    func end() {
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }

    /// Whether one has come.
    var hasCome: Bool { isInterrupted.load(ordering: .relaxed) }
}
