import Dispatch
public import PresenceStore
import Synchronization
import Testing

/// Collects outcomes, and can hold the store's thread in its callback.
final class Outcomes: Sendable {
    private struct State {
        var reports: [[Outcome]] = []
        var isHolding = false
    }

    private let state = Mutex(State())
    private let arrived = DispatchSemaphore(value: 0)
    private let gate = DispatchSemaphore(value: 0)

    func report(_ outcomes: [Outcome]) {
        let mustHold = state.withLock { state in
            state.reports.append(outcomes)
            return state.isHolding
        }
        arrived.signal()
        if mustHold { gate.wait() }
    }

    /// The outcomes of the next transaction, in the order they were told.
    func next() throws -> [Outcome] {
        try #require(arrived.wait(timeout: .now() + 30) == .success, "no outcome came")
        return state.withLock { $0.reports.removeFirst() }
    }

    /// Takes the outcomes of a batch, whose last ticket is 0; returns the tickets that have failed.
    ///
    /// Before each report but the first, `passOn` is called.
    func failedTickets(_ passOn: () -> Void = {}) throws -> Set<StoreTicket> {
        Set(try uncommitted(passOn).keys)
    }

    /// The results of the tickets that were not committed, up to that of ticket 0.
    func uncommitted(_ passOn: () -> Void = {}) throws -> [StoreTicket: Outcome.Result] {
        var found: [StoreTicket: Outcome.Result] = [:]
        while true {
            let report = try next()
            for outcome in report where outcome.result != .committed {
                found[outcome.ticket] = outcome.result
            }
            guard !report.contains(where: { $0.ticket == 0 }) else { return found }
            passOn()
        }
    }

    /// From the next report on the store's thread waits until `release`.
    func hold() {
        state.withLock { $0.isHolding = true }
    }

    /// Lets one held report pass and holds the next.
    func passOne() {
        gate.signal()
    }

    /// Lets the held report pass and holds no more.
    func release() {
        state.withLock { $0.isHolding = false }
        gate.signal()
    }
}

extension StoreTuning {
    /// With faults; what has failed is not tried again while a test looks.
    init(_ faults: InjectedFaults) {
        self.init()
        self.faults = faults
        backoffMillisecondsMin = 3_600_000
        backoffMillisecondsMax = 3_600_000
    }
}

extension Store {
    /// Submits writes that somebody waits for, and waits.
    func write(_ writes: Write..., into outcomes: Outcomes) throws -> [Outcome.Result] {
        submit(writes.enumerated().map { Submission(ticket: StoreTicket(UInt64($0)), write: $1) })
        return try outcomes.next().map(\.result)
    }

    /// Submits writes that nobody waits for.
    func writeLazily(_ writes: Write...) {
        submit(writes.map { Submission(write: $0) })
    }
}

extension StoreTicket: ExpressibleByIntegerLiteral {
    /// A ticket of the engine.
    public init(integerLiteral number: UInt64) { self.init(number) }
}
