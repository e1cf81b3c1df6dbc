// Outboxes: events, encoded once, shared by all who are to have them (`SharedFrames`); written once
// a turn; conflated when full.
//
// An outbox that is full takes no more events, but notes their topics. When the socket has
// taken everything, the newest state of each of these follows, a frame at a time. So a slow
// client costs a bounded number of bytes, is told nothing older after something newer, and
// ends up knowing the truth. What it can hold at most:
//
//     outboxBytesMax + one answer            in the outbox, and expiries up to backlogBytesMax
//   + as much                                handed to the kernel and not yet taken
//   + 4 bytes a subscription                 topics that have changed
//   + one frame and one read of the loop     of its own that it has sent ahead
//
// and all together what they share in a turn, some 10 MiB (`SharedFrames.Limits`).
//
// A client that takes nothing for `progressSeconds` is closed. It is looked at what it takes, not
// how fast: one on a bad line is slow, not gone.

import Containers
import EventLoop
import Outboxes
import PresenceCore
import PresenceWire

extension Reactor {
    /// Puts an event's bytes, encoded once, into the outboxes of all receivers.
    mutating func deliver(
        _ frame: [UInt8], _ seq: UInt64, of topic: TopicHandle, to receivers: Range<Int>
    ) {
        guard let shared = frames.add(frame.span, for: receivers.count) else {
            for place in receivers {
                deliver(frame.span, seq, of: topic, to: Int(effects.receivers[place]))
            }
            return
        }
        let outboxBytesMax = configuration.connection.outboxBytesMax
        for place in receivers {
            let receiver = effects.receivers[place]
            let slot = Int(receiver)
            // Nearly always it is as simple as that.
            switch connections[slot].take(shared, of: &frames, upTo: outboxBytesMax) {
            case .taken: continue
            case .takenFirst: dirty.append(receiver)
            case .notSimple: deliver(frame.span, seq, of: topic, to: slot)
            }
        }
    }

    private mutating func deliver(
        _ bytes: Span<UInt8>, _ seq: UInt64, of topic: TopicHandle, to slot: Int
    ) {
        guard connections[slot].phase == .serving else { return }
        let hasRoom = hasRoom(slot)
        // To find that out, it may have been written to, and be lost.
        guard connections[slot].phase == .serving else { return }
        guard hasRoom else { return note(topic, seq, behind: slot) }
        append(bytes, to: slot)
    }

    /// Puts bytes that must not be left out into the outboxes of all receivers.
    mutating func deliver(_ frame: [UInt8], to receivers: Range<Int>) {
        let bytes = frame.span
        for place in receivers {
            let slot = Int(effects.receivers[place])
            guard connections[slot].phase == .serving else { continue }
            append(bytes, to: slot)
        }
    }

    private mutating func append(_ frame: Span<UInt8>, to slot: Int) {
        pool.lend(to: &connections[slot].outbox)
        connections[slot].outbox.bytes.append(frame)
        markDirty(slot)
        guard connections[slot].state.contains(.isBlocked) else { return }
        bytesHeldBack += frame.count
        connections[slot].bytesHeldBack += frame.count
        guard connections[slot].outbox.count > configuration.connection.backlogBytesMax else {
            return
        }
        // What cannot be left out has come faster than it was taken, for long.
        counters.closedTooSlow += 1
        close(slot, .tooSlow)
    }

    /// Whether an outbox takes events.
    private mutating func hasRoom(_ slot: Int) -> Bool {
        guard connections[slot].behind.isEmpty else { return false }
        if !connections[slot].state.contains(.isBlocked) {
            let isFull =
                connections[slot].outbox.count >= configuration.connection.outboxBytesMax
            // One that takes all it is given is not slow: much has happened in this turn.
            if !isFull || write(slot) { return true }
        }
        // What is pending counts, too; and when all together have too much, anything does.
        let bytesInAll = bytesBlocked + bytesHeldBack
        guard bytesInAll <= configuration.connection.outboxBytesInAllMax else { return false }
        return connections[slot].outbox.count + connections[slot].bytesPending
            < configuration.connection.outboxBytesMax
    }

    private mutating func note(_ topic: TopicHandle, _ seq: UInt64, behind slot: Int) {
        counters.conflated += 1
        let place = connections[slot].behind.lowerBound(of: topic)
        let isKnown =
            place < connections[slot].behind.count && connections[slot].behind[place] == topic
        if isKnown { return }
        if connections[slot].behind.isEmpty {
            counters.fellBehind += 1
            delays[UInt32(slot)] = engine.noteBehind(
                ConnectionID(connections[slot].id), fromEvent: seq, at: now().wall)
        }
        connections[slot].behind.insert(topic, at: place)
        markDirty(slot)
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
            guard hasMoreToSay(slot) else { return resumeIfPaused(slot) }
            guard framesLeft > 0 else { return markDirty(slot) }
            framesLeft -= 1
            sayMore(slot, at: now)
        }
    }

    /// Whether there is a list to go on with, changes to catch up with, or more of the feed.
    private func hasMoreToSay(_ slot: Int) -> Bool {
        let state = connections[slot].state
        guard state.isDisjoint(with: [.isListing, .isFeedReader]) else {
            return state.contains(.isListing) || hasMoreOfFeed(slot)
        }
        return !connections[slot].behind.isEmpty
    }

    private mutating func sayMore(_ slot: Int, at now: Moment) {
        if connections[slot].state.contains(.isFeedReader) { return sayMoreOfFeed(slot, at: now) }
        let connection = ConnectionID(connections[slot].id)
        if connections[slot].behind.isEmpty {
            engine.continueList(of: connection, at: now, into: &effects)
        } else {
            let count = min(
                connections[slot].behind.count, configuration.engine.limits.statesPerFrameMax)
            let topics = Array(connections[slot].behind.prefix(count))
            connections[slot].behind.removeFirst(count)
            engine.appendStates(of: topics, for: connection, at: now, into: &effects)
            if connections[slot].behind.isEmpty,
                let delay = delays.removeValue(forKey: UInt32(slot))
            {
                engine.noteCaughtUp(delay, at: now.wall)
            }
        }
        carryOut(at: now)
    }

    /// Writes an outbox; whether the socket has taken everything.
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

    /// What is in the outbox of a connection that has not taken its last write is counted, until
    /// it is written or the connection ends.
    mutating func forgetHeldBack(_ slot: Int) {
        bytesHeldBack -= connections[slot].bytesHeldBack
        connections[slot].bytesHeldBack = 0
    }

    // MARK: Progress

    private mutating func watchProgress(of slot: Int, pending bytes: Int) {
        bytesBlocked += bytes - connections[slot].bytesPending
        connections[slot].bytesPending = bytes
        enterSlow(slot)
        guard connections[slot].phase != .closing, connections[slot].progressDeadline == .none
        else { return }
        connections[slot].progressDeadline = deadlines.schedule(
            ConnectionDeadline.progress.payload(slot),
            at: now().mono.advanced(bySeconds: configuration.connection.progressSeconds)
                .milliseconds)
    }

    /// The socket has taken everything.
    mutating func progressEnded(of slot: Int) {
        bytesBlocked -= connections[slot].bytesPending
        connections[slot].bytesPending = 0
        leaveSlow(slot)
        stopWatchingProgress(of: slot)
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

    mutating func stopWatchingProgress(of slot: Int) {
        guard connections[slot].progressDeadline != .none else { return }
        deadlines.cancel(connections[slot].progressDeadline)
        connections[slot].progressDeadline = .none
    }

    /// Closes a connection that has taken nothing since it was last looked at.
    mutating func checkProgress(of slot: Int) {
        let pending = loop.bytesPending(connections[slot].id)
        // Who reads the feed for a receiver outside may have to wait for that one for hours. It
        // holds one outbox, and the ring goes on without it.
        let isPatient = connections[slot].state.isSuperset(of: [.isOfTheHouse, .isFeedReader])
        guard pending < connections[slot].bytesPending || isPatient else {
            counters.closedTooSlow += 1
            // There is no room for a last word. It is tried all the same, and not for long.
            return close(slot, .tooSlow)
        }
        noteProgress(of: slot)
        watchProgress(of: slot, pending: pending)
    }

    /// Who is not read from, because it has not taken its answers, cannot be heard. That it
    /// takes them is its sign of life then.
    mutating func noteProgress(of slot: Int) {
        guard connections[slot].state.contains(.isPaused) else { return }
        engine.heard(ConnectionID(connections[slot].id), at: now().mono)
    }
}
