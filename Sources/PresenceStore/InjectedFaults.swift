internal import Synchronization

/// Injected failures, for tests of how the store handles them.
///
/// They replace the disk at the few places where it may fail. The test sets the code, how many
/// calls pass before it, and how often it occurs.
package final class InjectedFaults: Sendable {
    /// Where a fault can be injected.
    package enum Point: Hashable, Sendable {
        /// Before a write of a transaction.
        case write
        /// In place of a commit.
        case commit
        /// After a commit that reached the log: what a failed `fsync` looks like to the caller.
        case commitInLog
        /// Before a read while the service runs.
        case read
        /// When the database is opened again after a failure.
        case reopen
        /// Before the log is copied into the database.
        case checkpoint
        /// When the log is cut after a failed commit.
        case scrub
    }

    private struct Plan {
        var code: Int32
        var passes: Int
        var times: Int
    }

    private let plans = Mutex<[Point: Plan]>([:])
    private let passed: (@Sendable (Point) -> Void)?

    /// Creates a plan without faults; `passed` is called at every point that passes without one.
    package init(passed: (@Sendable (Point) -> Void)? = nil) {
        self.passed = passed
    }

    /// Lets `passes` calls at `point` succeed, then fails `times` with `code`.
    package func fail(_ point: Point, code: Int32, after passes: Int = 0, times: Int = 1) {
        plans.withLock { $0[point] = Plan(code: code, passes: passes, times: times) }
    }

    func check(_ point: Point) throws(StoreError) {
        let code: Int32? = plans.withLock { plans in
            guard var plan = plans[point], plan.times > 0 else { return nil }
            if plan.passes > 0 {
                plan.passes -= 1
                plans[point] = plan
                return nil
            }
            plan.times -= 1
            plans[point] = plan
            return plan.code
        }
        if let code { throw StoreError(code: code) }
        passed?(point)
    }
}
