import Logging
import PresenceCore

// Orderly shutdown: no new connections, requests in progress are answered, every connection is
// closed with 4503, and then the loops stop. Sessions are not ended: they are restored at the next
// startup.

extension EngineHost {
    mutating func beginStopping() {
        switch phase {
        case .starting, .listening:
            stop()
        case .serving:
            enter(.stopping)
            output.appendToAll(.stopListening)
        case .stopping, .farewell, .stopped:
            break
        }
    }

    /// Continues the shutdown as far as possible now.
    mutating func continueStopping() {
        guard phase == .stopping, engine.changesInFlight == 0, passwords.storingCount == 0 else {
            return
        }
        enter(.farewell)
        feed?.endAll()
        undelivered.endAll()
        output.appendToAll(.farewell)
        for box in boxesInProcess { output.append(.farewell, toLoopInProcess: box.loop) }
    }

    /// A loop has no connections any more.
    mutating func loopFinished() {
        finishedLoopCount += 1
        guard phase == .farewell, finishedLoopCount == loops.count else { return }
        stop()
    }

    mutating func stop() {
        guard phase != .stopped else { return }
        submit()
        enter(.stopped)
        output.appendToAll(.stop)
    }
}
