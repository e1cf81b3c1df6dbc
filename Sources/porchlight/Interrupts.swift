import Foundation
import Synchronization

/// Set by the handler, which may do little more than that (signal-safety(7)).
private let isInterrupted = Atomic(false)

/// Notices ^C, SIGTERM and a closed terminal (SIGHUP) instead of being killed by them.
///
/// By a plain handler: a Dispatch signal source starts to listen some time after it is activated,
/// and a signal in between is lost.
struct Interrupts {
    private let numbers: [CInt]

    /// Installs the handlers. SIGHUP stays ignored if it is, as under nohup(1).
    init() {
        // Here, so that the handler is not the first to access it.
        isInterrupted.store(false, ordering: .relaxed)
        numbers = [SIGINT, SIGTERM] + (isIgnored(SIGHUP) ? [] : [SIGHUP])
        for number in numbers {
            signal(number) { _ in isInterrupted.store(true, ordering: .relaxed) }
        }
    }

    /// Restores the default: the next signal ends the process.
    func end() {
        for number in numbers { signal(number, SIG_DFL) }
    }

    /// Whether one has arrived.
    var hasCome: Bool { isInterrupted.load(ordering: .relaxed) }
}

private func isIgnored(_ number: CInt) -> Bool {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0 else { return false }
    let ignored = unsafe unsafeBitCast(SIG_IGN, to: Int.self)
    return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == ignored
}
