// Pings on a thread and a loop of their own. A loop that is busy reading ten thousand events
// would see a ping's answer late and blame the service for it.

import EventLoop
import Foundation
import Glibc
import Synchronization

/// Pings at fixed times, measured from when each was due.
final class Pings: LoadObserver {
    /// A run of pings on a thread; `finish` ends it.
    final class Thread: Sendable {
        private let result = Mutex<Result<Latencies, BenchError>?>(nil)
        private let isToStop = Atomic(false)
        private let isReady = Atomic(false)
        private let hasEnded = DispatchSemaphore(value: 0)

        init(_ target: ListenAddress, accounts: Range<Int>, perSecond: Int, seed: UInt64) {
            Foundation.Thread.detachNewThread { [self] in
                let outcome: Result<Latencies, BenchError>
                do throws(BenchError) {
                    outcome = .success(
                        try ping(target, accounts: accounts, perSecond: perSecond, seed: seed))
                } catch {
                    outcome = .failure(error)
                }
                result.withLock { $0 = outcome }
                isReady.store(true, ordering: .relaxed)
                hasEnded.signal()
            }
        }

        /// Whether its clients are online.
        var hasBegun: Bool { isReady.load(ordering: .relaxed) }

        /// Ends it and gives the times.
        func finish() throws(BenchError) -> Latencies {
            isToStop.store(true, ordering: .relaxed)
            hasEnded.wait()
            guard let result = result.withLock({ $0 }) else {
                throw BenchError("The pings ended without a result.")
            }
            return try result.get()
        }

        private func ping(
            _ target: ListenAddress, accounts: Range<Int>, perSecond: Int, seed: UInt64
        ) throws(BenchError) -> Latencies {
            // Answers should be read as soon as they arrive. Without permission this has no effect.
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, -15)
            let load = try Load(target: target, seed: seed, progress: ProgressLine(isShown: false))
            defer { load.close() }
            load.loginList = .none
            try load.arrive(accounts)
            let pings = Pings(load, accounts: accounts, perSecond: perSecond)
            load.observer = pings
            isReady.store(true, ordering: .relaxed)
            try load.wait(for: "pings", atMostSeconds: 86_400) { [self] in
                isToStop.load(ordering: .relaxed)
            }
            pings.isOver = true
            try load.wait(for: "the last pings", atMostSeconds: 60) {
                load.counters.requestsOutstanding == 0
            }
            return pings.times
        }
    }

    /// Pings beside what a load does.
    struct Run {
        var accounts: Range<Int>
        var perSecond: Int
        var seed: UInt64

        /// Pings for so long, while the load runs.
        func run(_ load: Load, seconds: Double, _ what: String) throws(BenchError) -> Latencies {
            let thread = Pings.Thread(
                load.target, accounts: accounts, perSecond: perSecond, seed: seed)
            var firstError: BenchError?
            do throws(BenchError) {
                try load.wait(for: what, atMostSeconds: 60) { thread.hasBegun }
                try load.rest(seconds: seconds, what)
            } catch {
                firstError = error
            }
            // Also after a failure: the thread must not outlive the service.
            let times = try thread.finish()
            if let firstError { throw firstError }
            return times
        }
    }

    private(set) var times = Latencies()
    var isOver = false
    private let load: Load
    private let accounts: Range<Int>
    private let pauseNanoseconds: UInt64
    private var next: Int
    private var dueNext: UInt64
    /// When the oldest ping of a client that is not answered was due; answers come in order.
    private var due: [[UInt64]]
    private var frame: [UInt8] = []

    init(_ load: Load, accounts: Range<Int>, perSecond: Int) {
        self.load = load
        self.accounts = accounts
        pauseNanoseconds = 1_000_000_000 / UInt64(max(perSecond, 1))
        next = accounts.lowerBound
        dueNext = load.loop.monotonicNanoseconds
        due = Array(repeating: [], count: accounts.count)
        frame.appendRequest(.ping)
        load.tickMilliseconds = 1
    }

    func turnEnded() {
        let now = load.loop.monotonicNanoseconds
        while !isOver, dueNext <= now {
            due[next - accounts.lowerBound].append(dueNext)
            load.request(frame, by: next)
            dueNext += pauseNanoseconds
            next = next + 1 == accounts.upperBound ? accounts.lowerBound : next + 1
        }
    }

    func answered(_ kind: RequestKind, of client: Int, in body: RawSpan) {
        guard kind == .ping, !due[client - accounts.lowerBound].isEmpty else { return }
        times.record(from: due[client - accounts.lowerBound].removeFirst(), to: load.now)
    }
}
