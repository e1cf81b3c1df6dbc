// Outboxes are written at most once in a turn. If more have something to write than one turn
// writes, the others follow in the next turns, in the order in which they began to wait, and what
// has arrived is read in between. So under load an event waits for half a round of all outboxes and
// not for a whole one, and a write has more events.
//
// A full outbox accepts no more events; the engine learns which were missed. When the socket has
// accepted everything, the engine sends the newest state of each of their topics (`Conflation`). So
// the limit of a slow client is:
//
//     outboxBytesMax + one answer            in the outbox, and expiries up to backlogBytesMax
//   + as much                                being written, not yet taken by the kernel
//   + 2 * `Loop.kernelOutputBytes`           in the kernel, which doubles what it is asked for
//   + 4 bytes a subscription                 topics that have changed, in the engine
//   + one frame and one read of the loop     of its own that it has sent ahead
//
// and all together what they share, some 10 MiB (`SharedFrames.Limits`).
//
// A client that reads nothing for `progressSeconds` is disconnected. We check for progress, not
// throughput: a client on a slow line is slow, not dead.

import Containers
public import EventLoop
import Outboxes
public import PresenceCore

/// What has become of a write.
public enum Written: Sendable {
    /// The socket has accepted everything.
    case everything
    /// It has not, now or before; or there is no connection.
    case pending
    /// The socket is broken: the connection has to be ended.
    case broken
}

extension ConnectionTable {
    // MARK: A round of writes

    /// Begins to write outboxes, each once. Returns how many this turn writes: what has something
    /// to write only from now on waits for the next turn.
    ///
    /// Since it is a part of those that wait, the last of 8,192 waits for 30 turns and not for 128,
    /// and turns may be long for other reasons.
    public mutating func beginWriting() -> Int {
        defer { frames.beginWriting() }
        guard !frames.isLarge else { return dirty.count }
        let part = dirty.count / limits.flushFraction
        return min(dirty.count, max(limits.outboxesPerTurn, part))
    }

    /// The next connection to write to. It keeps its place until `leaveQueue`, so what it comes to
    /// have meanwhile gives it no other.
    public mutating func takeDirty() -> Int { dirty.takeFirst() }

    /// A connection that `takeDirty` has returned has been written to.
    public mutating func leaveQueue(_ slot: Int) { slots[slot].output.unmarkDirty() }

    /// Ends what `beginWriting` began.
    public mutating func endWriting() {
        dirty.compact()
        frames.endWriting(all: dirty.isEmpty)
    }

    /// Whether connections have something to write.
    public var hasOutput: Bool { !dirty.isEmpty }

    /// The progress of the writes.
    public var progress: WriteProgress { dirty.progress }

    /// Frees memory that was not used recently.
    public mutating func trim() {
        pool.trim()
        frames.trim()
    }

    // MARK: One outbox

    /// Writes an outbox. The slot may be free.
    public mutating func write(_ slot: Int, at now: Mono) -> Written {
        guard slots[slot].phase != .free, !slots[slot].output.isBlocked else { return .pending }
        guard !slots[slot].output.outbox.isEmpty else { return .everything }
        forgetHeldBack(slot)
        switch drain(slot) {
        case .written: return .everything
        case .failed: return .broken
        case .pending(let bytes):
            block(slot, pending: bytes, at: now)
            return .pending
        }
    }

    /// Closes a connection that has written everything.
    public func closeAfterWrites(_ slot: Int) { sockets.closeAfterWrites(slots[slot].id) }

    /// Hands an outbox to the socket.
    mutating func drain(_ slot: Int) -> WriteOutcome {
        let id = slots[slot].id
        return unsafe frames.drain(
            &slots[slot].output.outbox, filling: slots[slot].gapText, to: &pool
        ) { [sockets] in
            unsafe sockets.write(id, $0)
        }
    }

    /// While the last write of a connection is not accepted, the bytes in its outbox are counted,
    /// until they are written or the connection ends.
    mutating func forgetHeldBack(_ slot: Int) {
        bytesHeldBack -= slots[slot].output.releaseHeldBack()
    }

    /// What has become of the bytes of a connection; nil: not all are handed to the kernel, or that
    /// is not known.
    public func delivery(of slot: Int) -> SocketDelivery? {
        guard slots[slot].output.bytesUnsent == 0 else { return nil }
        return sockets.delivery(slots[slot].id)
    }

    // MARK: Progress

    /// The socket has not accepted all of the last write.
    private mutating func block(_ slot: Int, pending bytes: Int, at now: Mono) {
        slots[slot].output.blocked = BlockedWrite(
            bytesPending: bytes, slowPlace: UInt32(slow.count))
        slow.append(SlowConnection(slot: UInt32(slot), since: now))
        bytesBlocked += bytes
        watchProgress(of: slot, at: now)
    }

    private mutating func watchProgress(of slot: Int, at now: Mono) {
        guard slots[slot].phase != .closing else { return }
        let deadline = now.advanced(bySeconds: limits.progressSeconds)
        slots[slot].output.blocked?.watch(slot, until: deadline, in: &deadlines)
    }

    /// The socket of a connection has accepted everything: the rest of its outbox can be written.
    public mutating func drained(_ slot: Int) {
        unblock(slot)
        markDirty(slot)
    }

    /// The socket has accepted everything, or is closed.
    mutating func unblock(_ slot: Int) {
        guard var blocked = slots[slot].output.blocked else { return }
        slots[slot].output.blocked = nil
        blocked.unwatch(in: &deadlines)
        bytesBlocked -= blocked.bytesPending
        leaveSlow(Int(blocked.slowPlace))
    }

    /// Removes an entry of the slow connections; the last one takes its place.
    private mutating func leaveSlow(_ place: Int) {
        let last = slow.removeLast()
        guard place < slow.count else { return }
        slow[place] = last
        slots[Int(last.slot)].output.blocked?.slowPlace = UInt32(place)
    }

    /// The deadline of a blocked write has passed. Returns whether the peer has read something
    /// since the last check; if not, the connection is to be closed.
    public mutating func hasProgressed(_ slot: Int, at now: Mono) -> Bool {
        slots[slot].output.blocked?.fired()
        let pending = sockets.bytesPending(slots[slot].id)
        guard pending < slots[slot].output.bytesPending else { return false }
        bytesBlocked += pending - slots[slot].output.bytesPending
        slots[slot].output.blocked?.bytesPending = pending
        watchProgress(of: slot, at: now)
        return true
    }
}
