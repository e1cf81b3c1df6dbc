import EventLoop

/// Watches whether the loops of a service end turns: all connection loops, and the engine host's.
///
/// A thread that hangs cannot be repaired within the process: its clients would be shown online and
/// get nothing. A restart within the grace of sessions is no event for any client. So the process
/// is to end, and its supervisor starts it again.
public final class Watchdog: Sendable {
    /// How long loops may end no turn.
    public struct Limits: Sendable {
        /// Seconds after which the process is to end; 0: it continues.
        public var endSeconds = 30
        /// The supervisor restarts the process if it is not notified for this time; nil: it does
        /// not.
        public var supervisorMilliseconds: UInt64?

        /// The defaults.
        public init() {}

        /// With 30 seconds for the end, or none: 15 seconds.
        var responsiveMilliseconds: UInt64 {
            let end = UInt64(endSeconds > 0 ? endSeconds : 30) * 1_000
            return max(4, min(end, supervisorMilliseconds ?? .max) / 2)
        }

        var tickMilliseconds: UInt64 { responsiveMilliseconds / 4 }
    }

    private let limits: Limits
    private let whenResponsive: @Sendable () -> Void
    private let end: @Sendable (_ loop: String, _ seconds: Int) -> Void
    private let isSilent = Guarded(false)

    /// `whenResponsive` is called several times within the supervisor's time, while all loops
    /// respond; `end` when one has ended no turn for `endSeconds`. Both on a thread of its own.
    public init(
        _ limits: Limits, whenResponsive: @escaping @Sendable () -> Void,
        end: @escaping @Sendable (_ loop: String, _ seconds: Int) -> Void
    ) {
        self.limits = limits
        self.whenResponsive = whenResponsive
        self.end = end
    }

    /// Whether all loops have ended a turn recently: within half of the shorter limit. Any thread.
    public var isResponsive: Bool { isSilent.withLock { !$0 } }

    /// Watches loops while they run, until the returned object is stopped.
    func watch(_ loops: [(name: String, wakeup: Wakeup)]) throws(UVError) -> Watch {
        let isOver = Guarded(false)
        let thread = try NamedThread(name: "watchdog") { [self] in
            var silence = LoopSilence(loops: loops.count, limits)
            while !isOver.wait(withinMilliseconds: limits.tickMilliseconds) {
                silence.tick(loops.map { $0.wakeup.turnNumber })
                // One that waits has nothing to do: it ends a turn for this.
                for loop in loops { loop.wakeup.wake() }
                isSilent.withLock { $0 = !silence.isResponsive }
                if silence.isResponsive { whenResponsive() }
                if let index = silence.hung { end(loops[index].name, limits.endSeconds) }
            }
        }
        return Watch(isOver: isOver, thread: thread)
    }

    /// Loops that are watched.
    struct Watch {
        fileprivate let isOver: Guarded<Bool>
        fileprivate let thread: NamedThread

        func stop() {
            isOver.set()
            while !thread.join(withinMilliseconds: 60_000) {}
        }
    }
}

/// For how long each of some loops has ended no turn, in ticks.
///
/// A tick counts as its length, however late it is: after a suspension of the process no loop has
/// been silent for longer than before.
struct LoopSilence {
    private let limits: Watchdog.Limits
    private var loops: [(turn: UInt64?, milliseconds: UInt64)]

    init(loops count: Int, _ limits: Watchdog.Limits) {
        self.limits = limits
        loops = Array(repeating: (nil, 0), count: count)
    }

    /// Notes the number of each loop's turn; nil: it does not run.
    mutating func tick(_ turns: [UInt64?]) {
        precondition(turns.count == loops.count)
        for (index, turn) in turns.enumerated() {
            let isSame = turn != nil && turn == loops[index].turn
            loops[index].milliseconds =
                isSame ? loops[index].milliseconds + limits.tickMilliseconds : 0
            loops[index].turn = turn
        }
    }

    var isResponsive: Bool {
        loops.allSatisfy { $0.milliseconds < limits.responsiveMilliseconds }
    }

    /// A loop because of which the process is to end.
    var hung: Int? {
        guard limits.endSeconds > 0 else { return nil }
        return loops.firstIndex { $0.milliseconds >= UInt64(limits.endSeconds) * 1_000 }
    }
}
