import EventLoop
import PresenceCore

// Signs of life. They count from the time at which bytes arrived, not from that at which the
// service read them: a connection that is not read from for a while is neither judged silent for
// that, nor does what it sent long ago make it look alive.

extension Reactor {
    /// Notes that `byteCount` bytes have been read from a client.
    mutating func hear(_ slot: Int, byteCount: Int, at now: Moment) {
        guard connections[slot].phase == .serving else { return }
        let connection = ConnectionID(connections[slot].id)
        guard connections[slot].state.contains(.isCatchingUp) else {
            return engine.heard(connection, at: now.mono)
        }
        engine.heard(connection, at: received(slot, at: now.mono) ?? now.mono)
        // A short read has emptied the socket.
        if byteCount < Loop.readBufferBytes { connections[slot].state.remove(.isCatchingUp) }
    }

    /// A client that is throttled is not read from. Bytes that arrive in the kernel meanwhile are
    /// its signs of life.
    mutating func hearWhatWaits(in slot: Int) {
        guard connections[slot].phase == .serving, connections[slot].state.contains(.isPaused)
        else { return }
        let connection = ConnectionID(connections[slot].id)
        let now = now().mono
        // A system call for each frame would be too much.
        guard engine.isNearlySilent(connection, at: now), let received = received(slot, at: now)
        else { return }
        engine.heard(connection, at: received)
    }

    /// A client that does not read its responses is not read from, and one that has ended its side
    /// sends no more. That they read responses is their sign of life then.
    mutating func noteProgress(of slot: Int) {
        guard connections[slot].state.contains(.isPaused) || connections[slot].phase == .ending
        else { return }
        engine.heard(ConnectionID(connections[slot].id), at: now().mono)
    }

    /// When bytes of the client last arrived in the kernel.
    private func received(_ slot: Int, at now: Mono) -> Mono? {
        loop.millisecondsSinceReceived(connections[slot].id).map {
            Mono(milliseconds: now.milliseconds - min($0, now.milliseconds))
        }
    }
}
