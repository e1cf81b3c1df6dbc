// What is sent goes through here: bodies come in, and each connection's framing puts them into its
// outbox. What is for one connection is encoded into its outbox; an event, which is for many, is
// framed once for each framing in use, and its frames are shared (`SharedFrames`).

import Containers
import Outboxes
import PresenceCore
import PresenceWire

extension ConnectionLoop where Link: ~Copyable {
    // MARK: To one connection

    /// Sends a connection a message: the body that `encode` appends; nothing if it appends nothing.
    mutating func send(to slot: Int, _ encode: (inout [UInt8]) -> Void) {
        let start = beginMessage(to: slot)
        encode(&connections[slot].output.outbox.bytes)
        endMessage(start, to: slot)
    }

    /// Begins a message to a connection. Its body is to be appended to the outbox, then
    /// `endMessage` called with the position that this returns.
    ///
    /// For bodies that are made of `Effects`: a closure would copy them.
    mutating func beginMessage(to slot: Int) -> Int {
        markDirty(slot)
        return fill(slot) { outbox, framing in framing.begin(in: &outbox) }
    }

    /// Ends a message; nothing is sent if it has no body.
    mutating func endMessage(_ start: Int, to slot: Int) {
        let framing = connections[slot].framing
        framing.end(start, in: &connections[slot].output.outbox.bytes)
    }

    /// Sends a connection a keep-alive.
    mutating func sendKeepAlive(to slot: Int) {
        markDirty(slot)
        fill(slot) { outbox, framing in framing.appendKeepAlive(to: &outbox) }
    }

    /// Sends a connection the answer to a ping.
    mutating func sendPong(to slot: Int, _ payload: [UInt8]) {
        markDirty(slot)
        fill(slot) { outbox, framing in framing.appendPong(payload, to: &outbox) }
    }

    /// Appends to the outbox of a connection, which the caller has flushed. All that a connection
    /// alone is sent is appended here.
    @discardableResult
    mutating func fill<Result>(
        _ slot: Int, _ append: (inout [UInt8], Framing) -> Result
    ) -> Result {
        pool.lend(to: &connections[slot].output.outbox)
        let framing = connections[slot].framing
        return append(&connections[slot].output.outbox.bytes, framing)
    }

    /// Sends a connection states, in as many messages as the limits require.
    mutating func send(
        _ states: Range<Int>, of list: EventList, to slot: Int, in effects: borrowing Effects
    ) {
        if connections[slot].framing.hasStanzas {
            return sendStanzas(states, to: slot, in: effects)
        }
        var rest = states
        while !rest.isEmpty {
            let start = beginMessage(to: slot)
            rest = connections[slot].output.outbox.bytes.appendEventsBody(
                rest, of: list, in: effects, limits: configuration.engine.limits)
            endMessage(start, to: slot)
        }
    }

    /// Tells a connection that its login list is complete. XMPP has no word for that.
    mutating func sendSynced(to slot: Int, count: Int) {
        guard !connections[slot].framing.hasStanzas else { return }
        send(to: slot) { $0.appendSyncedBody(count: count) }
    }

    // MARK: To many

    /// Sends an event, whose body has been encoded, to all its receivers.
    mutating func deliver(
        _ body: Span<UInt8>, _ seq: UInt64, of topic: TopicHandle, to receivers: ArraySlice<UInt32>
    ) {
        var framed = PerFraming<SharedFrames.Frame?>(repeating: nil)
        let outboxBytesMax = configuration.connection.outboxBytesMax
        for receiver in receivers {
            let slot = Int(receiver)
            let framing = connections[slot].framing
            if framed[framing] == nil {
                framed[framing] = share(body, framing, with: receivers.count)
            }
            guard let frame = framed[framing] else {
                deliver(body, seq, of: topic, to: slot)
                continue
            }
            // The common case.
            switch connections[slot].take(frame, of: &frames, upTo: outboxBytesMax) {
            case .taken: continue
            case .takenFirst: dirty.append(receiver)
            case .notSimple: deliver(body, seq, of: topic, to: slot)
            }
        }
    }

    /// Frames a body for outboxes to share; nil: it is to be copied to each.
    private mutating func share(
        _ body: Span<UInt8>, _ framing: Framing, with receiverCount: Int
    ) -> SharedFrames.Frame? {
        frames.add(
            body, headerBytesMax: framing.headerBytesMax, for: receiverCount
        ) { body, bytes in
            framing.append(to: &bytes) { $0.append(body) }
        }
    }

    private mutating func deliver(
        _ body: Span<UInt8>, _ seq: UInt64, of topic: TopicHandle, to slot: Int
    ) {
        guard accepts(topic, seq, in: slot) else { return }
        push(body, to: slot)
    }

    /// Sends a message that must not be dropped to all receivers but XMPP clients.
    mutating func deliverAll(_ body: [UInt8], to receivers: ArraySlice<UInt32>) {
        for receiver in receivers where connections[Int(receiver)].phase == .serving {
            guard !connections[Int(receiver)].framing.hasStanzas else { continue }
            push(body.span, to: Int(receiver))
        }
    }

    /// Sends a connection what it has not asked for. That is counted while it does not read.
    mutating func push(_ body: Span<UInt8>, to slot: Int) {
        let before = connections[slot].output.outbox.bytes.count
        send(to: slot) { $0.append(body) }
        noteHeldBack(slot, since: before)
    }

    /// Counts what was appended to an outbox that had `before` bytes, if the socket does not accept
    /// it now.
    mutating func noteHeldBack(_ slot: Int, since before: Int) {
        guard connections[slot].output.isBlocked else { return }
        let count = connections[slot].output.outbox.bytes.count - before
        bytesHeldBack += count
        connections[slot].output.holdBack(count)
        guard connections[slot].output.outbox.count > configuration.connection.backlogBytesMax
        else { return }
        // For a long time, frames that cannot be dropped have arrived faster than the client read.
        counters.closedTooSlow += 1
        close(slot, .tooSlow)
    }
}
