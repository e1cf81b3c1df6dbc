// A thread of its own for work of one kind, and not a queue of Dispatch: that runs on whichever of
// its threads is free. glibc has an area of memory per thread, so what such work allocates would
// come from several areas in turn, of which each keeps what others could use.

/// Carries out pieces of work one after the other, on one thread, which is started with the first.
public final class WorkThread: Sendable {
    private let name: String
    private let queue = Guarded(Queue())

    fileprivate struct Queue {
        var waiting: [@Sendable () -> Void] = []
        var phase = Phase.idle
    }

    fileprivate enum Phase {
        /// There was no work yet. To: `running`, `over`.
        case idle
        /// To: `over`.
        case running
        /// The thread ends after the work that it has.
        case over
    }

    /// A thread with a name, of which the kernel keeps 15 bytes.
    public init(name: String) {
        self.name = name
    }

    deinit { end() }

    /// Has a piece of work carried out. If no thread can be started, the caller's does it.
    public func add(_ work: @escaping @Sendable () -> Void) {
        let hasThread = queue.withLock { queue in
            if queue.phase == .idle, start() { queue.phase = .running }
            guard queue.phase == .running else { return false }
            queue.waiting.append(work)
            return true
        }
        if hasThread { queue.wake() } else { work() }
    }

    private func start() -> Bool {
        let queue = queue
        do throws(UVError) {
            let thread = try NamedThread(name: name) { Self.run(queue) }
            thread.detach()
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
                defer { queue.waiting = [] }
                return queue.waiting
            }
            guard !work.isEmpty else { return }
            for piece in work { piece() }
        }
    }
}
