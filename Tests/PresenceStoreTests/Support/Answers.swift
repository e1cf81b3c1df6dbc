import Dispatch
import PresenceStore
import Synchronization
import Testing

/// Collects the answers to questions.
final class Answers: Sendable {
    private let all = Mutex<[ReadOutcome]>([])
    private let arrived = DispatchSemaphore(value: 0)

    func report(_ outcomes: [ReadOutcome]) {
        all.withLock { $0 += outcomes }
        for _ in outcomes { arrived.signal() }
    }

    func next() throws -> ReadOutcome {
        try #require(arrived.wait(timeout: .now() + 30) == .success, "no answer came")
        return all.withLock { $0.removeFirst() }
    }
}
