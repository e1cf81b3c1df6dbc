import EventLoop
import Logging
import PresenceCore
import PresenceStore

/// Drives the engine host on a thread of its own: what the connection loops, the store and other
/// threads have for it comes in, and what it has for the loops goes out.
///
/// A turn takes what has arrived, unless a loop is full, does what is due, and hands over at least
/// one output for each loop that has something to do.
final class EngineDriver: LoopHandler {
    /// The cost of output that is collected before it is handed over.
    private static let costMax = OutcomeQueue.costMax

    var host: EngineHost<Store, Loop>
    /// The actions for signals; to be set before the loop runs.
    var signals: [CInt: SignalMeaning] = [:]
    private let loop: Loop
    private var clock: ServiceClock
    private let mailbox: Mailbox
    /// By loop.
    private let boxes: [LinkBox]
    private var input: LoopInput
    private var outcomes = OutcomeQueue()
    private let counts: ConnectionCounts
    private var deadlines: DeadlineGate
    /// Since when a loop has been full, so that no input is taken.
    private var heldSince: Mono?

    init(
        _ host: consuming EngineHost<Store, Loop>, on loop: Loop, _ clock: ServiceClock,
        _ mailbox: Mailbox, _ boxes: [LinkBox], _ counts: ConnectionCounts
    ) {
        self.host = host
        self.loop = loop
        self.clock = clock
        self.mailbox = mailbox
        self.boxes = boxes
        self.counts = counts
        let now = Mono(milliseconds: clock.shifted(loop.monotonicMilliseconds))
        input = LoopInput(loops: boxes.count, at: now)
        deadlines = DeadlineGate(at: now)
    }

    /// The current time by both clocks.
    func now() -> Moment {
        clock.moment(mono: loop.monotonicMilliseconds, wall: loop.wallMilliseconds)
    }

    func turnEnded() {
        guard host.phase != .stopped else { return }
        let now = now()
        noteHeldInput(at: now.mono)
        host.stalled.skip(milliseconds: deadlines.beginTurn(at: now.mono))
        measureBacklogs(at: now.mono)
        takeMail(at: now)
        takeInput(at: now)
        host.areFanOutsHeld = !host.stalled.mayContinueFanOuts
        host.advance(to: now, heardUpTo: deadlines.heardUpTo)
        host.endTurn(at: now)
        handOver()
        guard host.phase != .stopped else { return loop.stop() }
        if let heard = input.heardUpTo { deadlines.endTurn(heardUpTo: heard) }
        heldSince = host.stalled.mayTakeInput ? nil : now.mono
        awaitReleases()
        armTimer(at: host.nextDeadline(at: now), now.mono)
    }

    // MARK: Input

    /// Takes in what the loops have handed over, in turns, while none of them is full.
    private func takeInput(at now: Moment) {
        guard host.stalled.mayTakeInput else { return }
        host.takeInProcess(at: now)
        takeRest(at: now)
        guard input.isEmpty else { return }
        input.fill(from: boxes, at: now.mono)
        takeRest(at: now)
    }

    private func takeRest(at now: Moment) {
        while host.stalled.mayTakeInput, let (inbound, first) = input.next() {
            let next = host.take(
                inbound, from: first, costMax: Self.costMax, at: now)
            if let next { input.putBack((inbound, first: next)) }
            guard host.output.cost > Self.costMax else { continue }
            handOver()
            measureBacklogs(at: now.mono)
        }
    }

    /// Counts the time since the last turn, if no input was taken in it.
    private func noteHeldInput(at now: Mono) {
        guard let heldSince else { return }
        host.counters.inputHeldMilliseconds += Int(
            clamping: now.milliseconds - min(now.milliseconds, heldSince.milliseconds))
    }

    /// Whether input has to wait for a loop.
    private var isInputHeld: Bool { !host.stalled.mayTakeInput || !input.isEmpty }

    /// Measures how far each loop is behind.
    private func measureBacklogs(at now: Mono) {
        host.stalled.isHoldingFanOuts = isHoldingFanOuts
        for (index, box) in boxes.enumerated() {
            guard host.stalled.note(box.backlog(), of: index, at: now) else { continue }
            counts.note(stalled: host.stalledLoops)
            host.logger.warning(
                host.stalledLoops.contains(index)
                    ? "a connection loop is stalled" : "a stalled connection loop continues",
                metadata: ["loop": "\(index)"])
        }
    }

    /// Has the loops wake this thread when they have released something that it waits for.
    private func awaitReleases() {
        guard !host.stalled.mayTakeInput || isHoldingFanOuts else { return }
        for (box, releasedTurns) in zip(boxes, host.stalled.releasedTurns) {
            // What it has released since it was measured is measured again.
            if !box.awaitRelease(after: releasedTurns) { loop.wakeup.wake() }
        }
    }

    /// Whether large fan-outs are in progress and wait for loops.
    private var isHoldingFanOuts: Bool { host.areFanOutsHeld && host.engine.hasFanOuts }

    private func takeMail(at now: Moment) {
        let mail = mailbox.take()
        outcomes.append(mail.outcomes)
        while host.stalled.mayTakeInput, !outcomes.isEmpty {
            outcomes.report(to: &host, at: now)
            guard host.output.cost > Self.costMax else { continue }
            handOver()
            measureBacklogs(at: now.mono)
        }
        host.take(mail, at: now)
    }

    private func handOver() {
        guard !host.output.isEmpty else { return host.output.removeAll() }
        for (box, outbound) in zip(boxes, host.handOver()) where !outbound.isEmpty {
            box.hand(outbound)
        }
    }

    private func armTimer(at deadline: Mono?, _ now: Mono) {
        var next: Mono?
        // While input is held, deadlines wait for it, and a release wakes this thread.
        if !isInputHeld { next = host.isBusy ? now : deadlines.wake(for: deadline) }
        host.stalled.isHoldingFanOuts = isHoldingFanOuts
        if let stall = host.stalled.nextDeadline { next = min(next ?? stall, stall) }
        deadlines.wait(until: next)
        guard let next else { return loop.disarmTimer() }
        loop.armTimer(atMonotonicMilliseconds: clock.unshifted(next.milliseconds))
    }

    func signalReceived(_ signal: CInt) {
        switch signals[signal] {
        case .stop:
            host.logger.info("stopping", metadata: ["signal": .stringConvertible(signal)])
            // Within a turn, whose output is handed over.
            mailbox.postStop()
        case .call(let body):
            body()
        case nil:
            break
        }
    }

    // Everything is taken in at the end of the turn.
    func wokenUp() {}
    func timerFired() {}

    // It has no connections.
    func streamAccepted(_ id: StreamID) {}
    func streamReceived(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) {}
    func streamEnded(_ id: StreamID, _ reason: StreamEnd) {}
    func streamDrained(_ id: StreamID) {}
    func streamClosed(_ id: StreamID) {}
    func acceptFailed(_ error: UVError) {}
}
