// Outboxes: each is written once per turn, and conflated when it is full.
//
// A full outbox accepts no more events; the engine learns which were missed. When the socket has
// accepted everything, the engine sends the newest state of each of their topics (`Conflation`). So
// the limit of a slow client is:
//
//     outboxBytesMax + one answer            in the outbox, and expiries up to backlogBytesMax
//   + as much                                handed to the kernel and not yet taken
//   + 4 bytes a subscription                 topics that have changed, in the engine
//   + one frame and one read of the loop     of its own that it has sent ahead
//
// and all together what they share in a turn, some 10 MiB (`SharedFrames.Limits`).
//
// A client that reads nothing for `progressSeconds` is disconnected. We check for progress, not
// throughput: a client on a slow line is slow, not dead.

import Containers
import EventLoop
import Outboxes
import PresenceCore
import PresenceWire

extension ConnectionLoop where Link: ~Copyable {
    /// Whether an outbox accepts events.
    mutating func hasRoom(_ slot: Int) -> Bool {
        guard !connections[slot].state.contains(.isConflated) else { return false }
        if !connections[slot].state.contains(.isBlocked) {
            let isFull =
                connections[slot].outbox.count >= configuration.connection.outboxBytesMax
            // A client whose socket accepts everything is not slow: this turn has many events.
            if !isFull || write(slot) { return true }
        }
        // Pending bytes count, too; above the limit for all clients, every outbox counts as full.
        let bytesInAll = bytesBlocked + bytesHeldBack
        guard bytesInAll <= configuration.connection.outboxBytesInAllMax else { return false }
        return connections[slot].outbox.count + connections[slot].bytesPending
            < configuration.connection.outboxBytesMax
    }

    /// Notes that a connection has not taken an event. The newest states follow when it has
    /// drained.
    mutating func note(_ topic: TopicHandle, _ seq: UInt64, missedBy slot: Int) {
        connections[slot].state.insert([.isConflated, .hasMissed])
        inbound.append(.missed(connectionID(slot), topic, seq: seq))
        markDirty(slot)
    }

    /// A connection has been sent the states of all that it had missed when it asked.
    mutating func caughtUp(_ slot: Int) {
        guard !connections[slot].state.contains(.hasMissed) else { return }
        connections[slot].state.remove(.isConflated)
    }

    /// Writes every outbox that has something, once, and gives lists their next share.
    mutating func flush(at now: Moment) {
        var slots: [UInt32] = []
        swap(&slots, &dirty)
        frames.beginWriting()
        for slot in slots {
            connections[Int(slot)].state.remove(.isDirty)
            flush(Int(slot), at: now)
        }
        frames.beginTurn()
        if dirty.isEmpty {
            slots.removeAll(keepingCapacity: true)
            swap(&slots, &dirty)
        }
    }

    private mutating func flush(_ slot: Int, at now: Moment) {
        var framesLeft = configuration.connection.listFramesPerTurn
        while write(slot) {
            if connections[slot].phase == .closing {
                return loop.closeAfterWrites(connections[slot].id)
            }
            guard !connections[slot].state.contains(.hasAsked), hasMoreToAskFor(slot) else {
                return resumeIfPaused(slot)
            }
            guard framesLeft > 0 else { return markDirty(slot) }
            framesLeft -= 1
            askForMore(slot, at: now)
        }
    }

    /// Whether it is sent something piece by piece: a list, missed states, or the feed.
    private func hasMoreToAskFor(_ slot: Int) -> Bool {
        !connections[slot].state.isDisjoint(with: [.isListing, .isFeedReader, .isConflated])
    }

    /// Tells the engine host that a connection has written everything.
    private mutating func askForMore(_ slot: Int, at now: Moment) {
        if connections[slot].phase == .ending {
            // It has taken what there was, so it has as long for the next share of its list.
            setDeadline(of: slot, afterSeconds: configuration.connection.farewellSeconds)
            noteProgress(of: slot)
        }
        connections[slot].state.insert(.hasAsked)
        connections[slot].state.remove(.hasMissed)
        inbound.append(.drained(connectionID(slot)))
        exchange(at: now)
    }

    /// Writes an outbox; whether the socket has accepted everything.
    private mutating func write(_ slot: Int) -> Bool {
        guard connections[slot].phase != .free, !connections[slot].state.contains(.isBlocked)
        else { return false }
        guard !connections[slot].outbox.isEmpty else { return true }
        let id = connections[slot].id
        forgetHeldBack(slot)
        let outcome = unsafe frames.drain(&connections[slot].outbox, to: &pool) { [loop] in
            unsafe loop.write(id, $0)
        }
        switch outcome {
        case .written:
            return true
        case .pending(let bytes):
            connections[slot].state.insert(.isBlocked)
            watchProgress(of: slot, pending: bytes)
            return false
        case .failed:
            abandon(slot)
            return false
        }
    }

    /// While the last write of a connection is not accepted, the bytes in its outbox are counted,
    /// until they are written or the connection ends.
    mutating func forgetHeldBack(_ slot: Int) {
        bytesHeldBack -= connections[slot].bytesHeldBack
        connections[slot].bytesHeldBack = 0
    }

    // MARK: Progress

    private mutating func watchProgress(of slot: Int, pending bytes: Int) {
        bytesBlocked += bytes - connections[slot].bytesPending
        connections[slot].bytesPending = bytes
        enterSlow(slot)
        guard connections[slot].phase != .closing, !connections[slot].progressDeadline.isSet
        else { return }
        deadlines.set(
            &connections[slot].progressDeadline, .progress, of: slot,
            to: now().mono.advanced(bySeconds: configuration.connection.progressSeconds))
    }

    /// The socket has accepted everything.
    mutating func progressEnded(of slot: Int) {
        bytesBlocked -= connections[slot].bytesPending
        connections[slot].bytesPending = 0
        leaveSlow(slot)
        deadlines.clear(&connections[slot].progressDeadline)
    }

    private mutating func enterSlow(_ slot: Int) {
        guard connections[slot].slowPlace == .max else { return }
        connections[slot].slowPlace = UInt32(slow.count)
        slow.append(SlowConnection(slot: UInt32(slot), since: now().mono))
    }

    private mutating func leaveSlow(_ slot: Int) {
        let place = Int(connections[slot].slowPlace)
        guard connections[slot].slowPlace != .max else { return }
        connections[slot].slowPlace = .max
        let last = slow.removeLast()
        guard place < slow.count else { return }
        slow[place] = last
        connections[Int(last.slot)].slowPlace = UInt32(place)
    }

    /// Closes a connection that has read nothing since the last check.
    mutating func checkProgress(of slot: Int) {
        let pending = loop.bytesPending(connections[slot].id)
        // An in-process feed reader, such as a webhook, may wait for its receiver for hours. It
        // uses one outbox, and the ring continues without it.
        let isPatient = connections[slot].state.isSuperset(of: [.isInternal, .isFeedReader])
        guard pending < connections[slot].bytesPending || isPatient else {
            counters.closedTooSlow += 1
            // The outbox has no space for a final frame. It is tried all the same, for a short
            // time.
            return close(slot, .tooSlow)
        }
        noteProgress(of: slot)
        watchProgress(of: slot, pending: pending)
    }
}
