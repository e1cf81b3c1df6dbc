import Containers
import EventLoop
import PresenceCore

// The end of a turn, when all input that has arrived in it has been processed.
//
// A deadline fires only when the sockets have been polled since it was due. A process that was
// suspended wakes up in that poll, which then reports nothing (EINTR, or a timeout that is long
// over), although the kernel may hold what clients have sent meanwhile. So a deadline that comes
// while the loop waits makes one more turn, without waiting, and is checked at its end.

extension ConnectionLoop where Link: ~Copyable {
    mutating func turnEnded() {
        guard phase != .stopped else { return }
        assertAtRest()
        let now = now()
        noteLag(at: now.mono)
        meetDeadlines(at: now)
        resume(at: now)
        link.advance(to: now, heardUpTo: heardUpTo, into: &outbound)
        carryOut(at: now)
        exchange(at: now)
        flush(at: now)
        noteReadUp()
        // Before the loop frees the slots of those that could not be written to.
        exchange(at: now)
        link.endTurn(at: now, dirty.progress, into: &outbound)
        carryOut(at: now)
        exchange(at: now)
        if phase == .farewell, loop.streamCount == 0 {
            enter(.finished)
            inbound.append(.finished)
            exchange(at: now)
            // The loop has nothing else to wait for: no other turn would hand this over.
            link.endTurn(at: now, dirty.progress, into: &outbound)
            carryOut(at: now)
        }
        assertTurnEnded()
        heardUpTo = resumable.heard(at: now.mono, before: heardUpTo)
        guard phase != .stopped else { return }
        // A list that is not complete, or a splitter that is not empty, waits for its next share.
        let hasMore = !dirty.isEmpty || !resumable.isEmpty || readingUp != nil
        armTimer(at: hasMore ? now.mono : nextDeadline(at: now))
        endTurn()
    }

    // MARK: The roll

    /// The roll has been called: this turn and the next one read what has arrived.
    mutating func beginReadingUp(_ number: UInt64) {
        readingUp = (number: number, turnsLeft: 2)
    }

    /// Answers the roll when what had arrived has been read.
    private mutating func noteReadUp() {
        guard let roll = readingUp else { return }
        readingUp?.turnsLeft -= 1
        guard roll.turnsLeft == 1 else { return }
        guard resumable.light.isEmpty else {
            // What arrives meanwhile waits behind it, and is read with it.
            readingUp?.turnsLeft = 1
            return
        }
        readingUp = nil
        inbound.append(.readUp(roll.number))
    }

    private func nextDeadline(at now: Moment) -> Mono? {
        let own = deadlines.nextWake.map { Mono(milliseconds: $0) }
        guard let hosts = link.nextDeadline(at: now) else { return own }
        return own.map { min($0, hosts) } ?? hosts
    }

    mutating func markDirty(_ slot: Int) {
        if connections[slot].output.markDirty() { dirty.append(UInt32(slot)) }
    }
}
