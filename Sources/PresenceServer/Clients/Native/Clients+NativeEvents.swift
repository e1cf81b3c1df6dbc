import Connections
import Containers
import Outboxes
import PresenceCore
import PresenceWire

// What native clients are sent that they have not asked for. What is for one is encoded into its
// outbox; an event, which is for many, is framed once for each framing in use.

extension Clients {
    // MARK: To one client

    /// How bodies are put on a native client's connection.
    func framing(of slot: Int) -> Framing { isWebSocket(slot) ? .webSocket : .native }

    /// Whether a connection is a WebSocket.
    func isWebSocket(_ slot: Int) -> Bool { table.variant(of: slot).isWebSocket }

    /// Sends a native client a message: the body that `encode` appends; nothing if it appends
    /// nothing.
    mutating func send(to slot: Int, _ encode: (inout [UInt8]) -> Void) {
        let framing = framing(of: slot)
        table.append(to: slot) { outbox in framing.append(to: &outbox, encode) }
    }

    /// Sends a client a keep-alive.
    mutating func sendKeepAlive(to slot: Int) {
        let framing = framing(of: slot)
        table.append(to: slot) { framing.appendKeepAlive(to: &$0) }
    }

    /// Sends a client the answer to a ping.
    mutating func sendPong(to slot: Int, _ payload: [UInt8]) {
        let framing = framing(of: slot)
        table.append(to: slot) { framing.appendPong(payload, to: &$0) }
    }

    /// Asks the client of a WebSocket for a sign of life. A page in a background tab runs its
    /// timers once a minute: it could not send a keep-alive in time, but its browser answers.
    mutating func sendPing(to slot: Int, _ payload: [UInt8] = []) {
        counters.pingsSent += 1
        table.append(to: slot) { Framing.webSocket.appendPing(payload, to: &$0) }
    }

    /// Sends a native client states, in as many messages as the limits require.
    mutating func sendNativeStates(
        _ states: Range<Int>, of list: EventList, to slot: Int, in effects: borrowing Effects
    ) {
        let framing = framing(of: slot)
        var rest = states
        while !rest.isEmpty {
            var outbox = table.beginAppending(to: slot)
            let start = framing.begin(in: &outbox)
            rest = outbox.appendEventsBody(
                rest, of: list, in: effects, limits: configuration.engine.limits)
            framing.end(start, in: &outbox)
            table.endAppending(outbox, to: slot)
        }
    }

    /// Sends a feed reader its next share.
    mutating func sendNative(
        _ message: FeedMessage, to slot: Int, from shared: borrowing SharedOutput
    ) {
        switch message {
        case .began(_, let cursor):
            return beginFeed(slot) { $0.appendFeedAnswerBody(goingOnFrom: cursor, to: $1) }
        case .beganUndelivered(let cursor):
            return beginFeed(slot) { $0.appendUndeliveredAnswerBody(cursor: cursor, to: $1) }
        case .reset:
            send(to: slot) { $0.appendFeedResetBody() }
        case .events(let share, let cursor):
            let events = shared.bytes[shared.range(of: share.list)]
            send(to: slot) { $0.appendFeedEventsBody(events, cursor: cursor) }
        case .synced(let cursor):
            send(to: slot) { $0.appendFeedSyncedBody(cursor: cursor) }
        case .undelivered(let share, let cursor):
            let messages = shared.bytes[shared.range(of: share.list)]
            send(to: slot) { $0.appendUndeliveredBody(messages, cursor: cursor) }
        }
        table.updateList(of: slot) { $0.pieceArrived() }
    }

    /// Answers the request of a reader, to which shares are sent from now on.
    private mutating func beginFeed(
        _ slot: Int, _ appendAnswer: (inout [UInt8], RequestID) -> Void
    ) {
        guard let id = protocols[slot].awaiting else { return endMismatched(slot) }
        table.updateList(of: slot) { $0.beginFeed() }
        send(to: slot) { appendAnswer(&$0, id) }
        settle(slot)
    }

    // MARK: To many

    /// Sends an event, whose body has been encoded, to all its receivers.
    mutating func deliver(
        _ body: Span<UInt8>, _ seq: UInt64, of topic: TopicHandle,
        to receivers: ArraySlice<UInt32>, at now: Mono
    ) {
        table.share(with: receivers) { variant, frames in
            let framing: Framing = variant == .webSocket ? .webSocket : .native
            return frames.add(
                body, headerBytesMax: framing.headerBytesMax, for: receivers.count
            ) { body, bytes in
                framing.append(to: &bytes) { $0.append(body) }
            }
        }
        let unshared = table.takeUnshared()
        for receiver in unshared {
            let slot = Int(receiver)
            if accepts(topic, seq, in: slot, at: now) { push(body, to: slot) }
        }
        table.giveBack(consume unshared)
    }

    /// Whether a client is sent a copy of an event. If it has no room, that it misses the event is
    /// noted; the newest states follow when it has drained.
    mutating func accepts(
        _ topic: TopicHandle, _ seq: UInt64, in slot: Int, at now: Mono
    ) -> Bool {
        guard table.phase(of: slot) == .serving else { return false }
        switch table.room(of: slot, at: now) {
        case .accepts: return true
        case .full:
            table.missed(slot)
            inbound.append(.missed(connectionID(slot), topic, seq: seq))
        case .broken: end(slot, .lost, .lost, .atOnce)
        }
        return false
    }

    /// Sends a copy of a message to native clients of its sender, those that keep up.
    mutating func deliverCopy(
        _ body: Span<UInt8>, missedCount: Int, to receivers: ArraySlice<UInt32>, at now: Mono
    ) {
        for receiver in receivers where table.phase(of: Int(receiver)) == .serving {
            let slot = Int(receiver)
            switch table.room(of: slot, at: now) {
            case .accepts: push(body, to: slot)
            case .full: inbound.append(.missedCopies(connectionID(slot), count: missedCount))
            case .broken: end(slot, .lost, .lost, .atOnce)
            }
        }
    }

    /// Sends a native client what it has not asked for. That is counted while it does not read.
    mutating func push(_ body: Span<UInt8>, to slot: Int) {
        let before = table.ownBytes(of: slot)
        send(to: slot) { $0.append(body) }
        countHeldBack(slot, since: before)
    }

    /// Counts what was appended to an outbox that had `before` bytes of its own.
    mutating func countHeldBack(_ slot: Int, since before: Int) {
        guard table.countHeldBack(slot, since: before) else { return }
        // For a long time, frames that cannot be dropped have arrived faster than the client read.
        counters.closedTooSlow += 1
        close(slot, .tooSlow)
    }
}
