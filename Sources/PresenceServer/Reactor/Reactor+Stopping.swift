import EventLoop
import PresenceCore

// The end in order: no new connections, what is under way is answered, everybody hears 4503,
// and only then is the loop left. Sessions stay: a restart is nobody's logout.

extension Reactor {
    mutating func beginStopping() {
        switch phase {
        case .starting:
            stop()
        case .serving:
            enter(.stopping)
            loop.stopListening()
        case .stopping, .farewell, .stopped:
            break
        }
    }

    /// Goes on with the end, as far as it can.
    mutating func goOnStopping() {
        if phase == .stopping, engine.changesInFlight == 0 {
            enter(.farewell)
            for slot in connections.indices {
                close(slot, .shuttingDown)
                guard connections[slot].phase == .closing else { continue }
                setDeadline(
                    of: slot, afterSeconds: configuration.connection.farewellSecondsAtStop)
            }
        }
        if phase == .farewell, loop.streamCount == 0 { stop() }
    }

    mutating func stop() {
        guard phase != .stopped else { return }
        submit()
        enter(.stopped)
        loop.stop()
    }
}
