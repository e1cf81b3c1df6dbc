// Outboxes: each is written at most once per turn, and conflated when it is full. If more have
// something to write than one turn writes, the others follow in the next turns, in the order in
// which they came to have it, and what has arrived is read in between. So under load an event waits
// for half a round of all outboxes and not for a whole one, and a write has more events.
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
// and all together what they share, some 10 MiB (`SharedFrames.Limits`).
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
        guard !connections[slot].pulling.isConflated else { return false }
        if !connections[slot].output.isBlocked {
            let isFull =
                connections[slot].output.outbox.count >= configuration.connection.outboxBytesMax
            // A client whose socket accepts everything is not slow: this turn has many events.
            if !isFull || write(slot) { return true }
        }
        // Pending bytes count, too; above the limit for all clients, every outbox counts as full.
        let bytesInAll = bytesBlocked + bytesHeldBack
        let bytesInAllMax = number.share(of: configuration.connection.outboxBytesInAllMax)
        guard bytesInAll <= bytesInAllMax else { return false }
        return connections[slot].output.bytesUnsent < configuration.connection.outboxBytesMax
    }

    /// Whether a connection is sent a copy of an event. If it has no room, that it misses the event
    /// is noted.
    mutating func accepts(_ topic: TopicHandle, _ seq: UInt64, in slot: Int) -> Bool {
        guard connections[slot].phase == .serving else { return false }
        let hasRoom = hasRoom(slot)
        // That may have written to it, and found it closed.
        guard connections[slot].phase == .serving else { return false }
        if !hasRoom { note(topic, seq, missedBy: slot) }
        return hasRoom
    }

    /// Notes that a connection has not taken an event. The newest states follow when it has
    /// drained.
    mutating func note(_ topic: TopicHandle, _ seq: UInt64, missedBy slot: Int) {
        connections[slot].pulling.missEvent()
        inbound.append(.missed(connectionID(slot), topic, seq: seq))
        markDirty(slot)
    }

    /// Writes outboxes that have something, each once, and gives lists their next share.
    mutating func flush(at now: Moment) {
        // What has something to write only from now on waits for the next turn.
        let count = flushCount
        var listBytesLeft = configuration.connection.listBytesPerTurn
        var listed: [Int] = []
        frames.beginWriting()
        for _ in 0..<count {
            let slot = dirty.takeFirst()
            let rest = flush(slot, &listBytesLeft, at: now)
            // Not before: what it has asked for meanwhile is written, and gives it no place.
            connections[slot].output.unmarkDirty()
            switch rest {
            case .none: break
            case .whole: markDirty(slot)
            case .further: listed.append(slot)
            }
        }
        // Behind those that have had nothing of their lists.
        for slot in listed { markDirty(slot) }
        dirty.compact()
        frames.endWriting(all: dirty.isEmpty)
    }

    /// How many outboxes this turn writes. Since it is a part of those that wait, the last of 8,192
    /// waits for 30 turns and not for 128, and turns may be long for other reasons.
    private var flushCount: Int {
        guard !frames.isLarge else { return dirty.count }
        let limits = configuration.connection
        let part = dirty.count / limits.outboxesWaitingPerWritten
        return min(dirty.count, max(limits.outboxesPerTurn, part))
    }

    /// Writes an outbox and gives the connection a share of its list. Returns what of that waits
    /// for the next turn.
    private mutating func flush(
        _ slot: Int, _ listBytesLeft: inout Int, at now: Moment
    ) -> ListShare {
        let framesMax = configuration.connection.listFramesPerTurn
        var framesLeft = framesMax
        while write(slot) {
            if connections[slot].phase == .closing {
                loop.closeAfterWrites(connections[slot].id)
                return .none
            }
            if connections[slot].phase == .anonymous, beginTLSIfDue(slot) { return .none }
            guard connections[slot].pulling.canAsk else {
                resumeIfPaused(slot)
                return .none
            }
            guard framesLeft > 0, listBytesLeft > 0 else {
                return framesLeft < framesMax ? .further : .whole
            }
            framesLeft -= 1
            askForMore(slot, at: now)
            listBytesLeft -= connections[slot].output.outbox.count
        }
        return .none
    }

    /// What of a connection's list waits for the next turn.
    private enum ListShare {
        case none
        /// It has had nothing.
        case whole
        /// It has had some, and more follows.
        case further
    }

    /// Tells the engine host that a connection has written everything.
    private mutating func askForMore(_ slot: Int, at now: Moment) {
        if connections[slot].phase == .ending {
            // It has taken what there was, so it has as long for the next share of its list.
            setDeadline(of: slot, afterSeconds: configuration.connection.farewellSeconds)
            noteProgress(of: slot)
        }
        connections[slot].pulling.ask()
        inbound.append(.drained(connectionID(slot)))
        exchange(at: now)
    }

    /// Writes an outbox; whether the socket has accepted everything.
    private mutating func write(_ slot: Int) -> Bool {
        guard connections[slot].phase != .free, !connections[slot].output.isBlocked
        else { return false }
        guard !connections[slot].output.outbox.isEmpty else { return true }
        forgetHeldBack(slot)
        switch drain(slot) {
        case .written:
            return true
        case .pending(let bytes):
            block(slot, pending: bytes)
            return false
        case .failed:
            end(slot, .lost, .lost, .atOnce)
            return false
        }
    }

    /// Hands an outbox to the socket.
    @inline(__always)
    private mutating func drain(_ slot: Int) -> WriteOutcome {
        let id = connections[slot].id
        guard connections[slot].bareJIDBytes == 0 else { return drainPresences(slot) }
        return unsafe frames.drain(&connections[slot].output.outbox, to: &pool) { [loop] in
            unsafe loop.write(id, $0)
        }
    }

    private mutating func drainPresences(_ slot: Int) -> WriteOutcome {
        let id = connections[slot].id
        let text = bareJIDs[slot]
        return unsafe frames.drain(
            &connections[slot].output.outbox, filling: text, to: &pool
        ) { [loop] in
            unsafe loop.write(id, $0)
        }
    }

    /// While the last write of a connection is not accepted, the bytes in its outbox are counted,
    /// until they are written or the connection ends.
    mutating func forgetHeldBack(_ slot: Int) {
        bytesHeldBack -= connections[slot].output.releaseHeldBack()
    }

    // MARK: Progress

    /// The socket has not accepted all of the last write.
    private mutating func block(_ slot: Int, pending bytes: Int) {
        connections[slot].output.blocked = BlockedWrite(
            bytesPending: bytes, slowPlace: UInt32(slow.count))
        slow.append(SlowConnection(slot: UInt32(slot), since: now().mono))
        bytesBlocked += bytes
        watchProgress(of: slot)
    }

    private mutating func watchProgress(of slot: Int) {
        guard connections[slot].phase != .closing else { return }
        let deadline = now().mono.advanced(bySeconds: configuration.connection.progressSeconds)
        connections[slot].output.blocked?.watch(slot, until: deadline, in: &deadlines)
    }

    /// The socket has accepted everything, or is gone.
    mutating func unblock(_ slot: Int) {
        guard var blocked = connections[slot].output.blocked else { return }
        connections[slot].output.blocked = nil
        blocked.unwatch(in: &deadlines)
        bytesBlocked -= blocked.bytesPending
        leaveSlow(Int(blocked.slowPlace))
    }

    /// Gives up a place among the slow connections; the last one takes it.
    private mutating func leaveSlow(_ place: Int) {
        let last = slow.removeLast()
        guard place < slow.count else { return }
        slow[place] = last
        connections[Int(last.slot)].output.blocked?.slowPlace = UInt32(place)
    }

    /// Closes a connection that has read nothing since the last check.
    mutating func checkProgress(of slot: Int) {
        let pending = loop.bytesPending(connections[slot].id)
        guard pending < connections[slot].output.bytesPending else {
            counters.closedTooSlow += 1
            // The outbox has no space for a final frame. It is tried all the same, for a short
            // time.
            return close(slot, .tooSlow)
        }
        noteProgress(of: slot)
        bytesBlocked += pending - connections[slot].output.bytesPending
        connections[slot].output.blocked?.bytesPending = pending
        watchProgress(of: slot)
    }
}
