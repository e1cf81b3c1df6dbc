// A thread of its own for work of one kind, and not a queue of Dispatch: that runs on whichever of
// its threads is free. glibc has an area of memory per thread, so what such work allocates would
// come from several areas in turn, of which each keeps what others could use.

/// Carries out pieces of work one after the other, on one thread, which is started with the first.
///
/// If no thread can be started, callers carry out the work, still one piece after the other: two
/// pieces may use the same memory.
public final class WorkThread: Sendable {
    /// Starts a thread with a name and a body.
    typealias Start = @Sendable (String, @escaping @Sendable () -> Void) throws(UVError) -> Void

    private let name: String
    private let start: Start
    private let queue = Guarded(Queue())

    fileprivate struct Queue {
        var waiting: [@Sendable () -> Void] = []
        var phase = Phase.idle

        mutating func takeAll() -> [@Sendable () -> Void] {
            defer { waiting = [] }
            return waiting
        }
    }

    fileprivate enum Phase {
        /// There is no thread; the next piece of work starts one. To: `running`, `onCaller`,
        /// `over`.
        case idle
        /// To: `over`.
        case running
        /// No thread could be started: a caller carries out what waits. To: `idle`.
        case onCaller
        /// The thread ends after the work that it has.
        case over
    }

    /// A thread with a name, of which the kernel keeps 15 bytes.
    public convenience init(name: String) {
        self.init(name: name) { name, body throws(UVError) in
            try NamedThread(name: name, body).detach()
        }
    }

    /// The same with another way to start a thread, for tests.
    init(name: String, start: @escaping Start) {
        self.name = name
        self.start = start
    }

    deinit { end() }

    /// Has a piece of work carried out. If no thread can be started, a caller does it: this one, or
    /// one that carries out work already.
    public func add(_ work: @escaping @Sendable () -> Void) {
        let isForCaller = queue.withLock { queue in
            queue.waiting.append(work)
            guard queue.phase == .idle else { return false }
            queue.phase = startThread() ? .running : .onCaller
            return queue.phase == .onCaller
        }
        if isForCaller { Self.runOnCaller(queue) } else { queue.wake() }
    }

    private func startThread() -> Bool {
        let queue = queue
        do throws(UVError) {
            try start(name) { Self.run(queue) }
            return true
        } catch {
            return false
        }
    }

    /// Lets the thread end after the work that it has.
    private func end() {
        queue.withLock { $0.phase = .over }
        queue.wake()
    }

    private static func run(_ queue: Guarded<Queue>) {
        while true {
            let work = queue.waitFor { queue -> [@Sendable () -> Void]? in
                guard !queue.waiting.isEmpty || queue.phase == .over else { return nil }
                return queue.takeAll()
            }
            guard !work.isEmpty else { return }
            for piece in work { piece() }
        }
    }

    private static func runOnCaller(_ queue: Guarded<Queue>) {
        while true {
            let work = queue.withLock { queue in
                if queue.waiting.isEmpty { queue.phase = .idle }
                return queue.takeAll()
            }
            guard !work.isEmpty else { return }
            for piece in work { piece() }
        }
    }
}

extension WorkThread: TaskExecutor {
    /// Carries out a job of a task.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        add { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
