import EventLoop
import PresenceCore
import SecureLoop

/// A service with a thread for each connection loop and one for the engine host. The thread that
/// calls `run` waits for them.
final class ThreadedRunner: ServiceRunner {
    private let loops: ServiceLoops
    private let engine: EngineDriver
    private let drivers: [LoopDriver]
    private let boxes: [LinkBox]
    private let acceptedSockets: [AcceptedSockets]

    /// What a thread runs, on the way to it.
    private struct Handed: @unchecked Sendable {
        // SAFETY: given to one thread before it begins; no other uses the loop and its handler
        // until it has ended.
        let run: () -> Void
    }

    init(
        _ loops: ServiceLoops, _ engine: EngineDriver, _ drivers: [LoopDriver],
        _ boxes: [LinkBox], _ acceptedSockets: [AcceptedSockets]
    ) {
        self.loops = loops
        self.engine = engine
        self.drivers = drivers
        self.boxes = boxes
        self.acceptedSockets = acceptedSockets
    }

    func run(
        _ signals: [CInt: SignalMeaning], cleaning: StoreCleaning, ready: @escaping () -> Void
    ) throws(UVError) {
        if !signals.isEmpty { try loops.host.watchSignals(signals.keys.sorted()) }
        engine.signals = signals
        let now = engine.now()
        engine.host.begin(cleaning: cleaning, at: now, ready: ready)
        var threads: [NamedThread] = []
        do throws(UVError) {
            for (index, driver) in drivers.enumerated() {
                let handed = Handed { driver.connections.loop.run(driver) }
                threads.append(try NamedThread(name: "loop \(index)") { handed.run() })
            }
            let handed = Handed { [loops, engine] in loops.host.run(engine) }
            threads.append(try NamedThread(name: "engine") { handed.run() })
        } catch {
            // Those that run have no connection yet.
            for box in boxes { box.hand(SealedOutbound(items: [.loop(.stop)])) }
            wait(for: threads)
            throw error
        }
        wait(for: threads)
    }

    private func wait(for threads: [NamedThread]) {
        for thread in threads {
            while !thread.join(withinMilliseconds: 60_000) {}
        }
    }

    func close() -> ServiceEnd {
        engine.host.closeBoxes()
        for box in boxes { box.close() }
        for accepted in acceptedSockets {
            for arrival in accepted.take() { Descriptors.close(arrival.socket) }
        }
        for driver in drivers { driver.connections.loop.close() }
        loops.host.close()
        let time = engine.now()
        return ServiceEnd(
            error: engine.host.serviceError, log: engine.host.feed?.log, time: time)
    }
}
