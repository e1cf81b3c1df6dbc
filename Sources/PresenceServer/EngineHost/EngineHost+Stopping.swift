import PresenceCore

// The end in order: no new connections, what is under way is answered, every connection is sent
// 4503, and only then are the loops left. Sessions stay: a restart is nobody's logout.

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

    /// Goes on with the end, as far as it can.
    mutating func goOnStopping() {
        guard phase == .stopping, engine.changesInFlight == 0 else { return }
        enter(.farewell)
        output.appendToAll(.farewell)
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
