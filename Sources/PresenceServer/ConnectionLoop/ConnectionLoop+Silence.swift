import Containers
import EventLoop
import PresenceCore
import PresenceWire

// Silence: connections whose clients send nothing for one and a half heartbeats are closed.
//
// A page in a background tab runs its timers once a minute, also while it has a WebSocket: it could
// not send a keep-alive in time. So a WebSocket on which nothing has arrived for one heartbeat is
// sent a ping, which the browser answers without the page.
//
// XMPP clients are asked after 60 s and closed after 90 s (`XMPPSilence`), whatever the heartbeat.
//
// Bytes count from the time at which they arrived, not from that at which the service read them: a
// connection that is not read from for a while does not count as silent for that, nor do bytes
// that arrived long ago count as recent.

extension ConnectionLoop where Link: ~Copyable {
    /// The milliseconds within which bytes that have arrived are certainly read.
    private static var readingMilliseconds: UInt64 { 1_000 }

    /// Begins to watch a connection that has logged in.
    mutating func watchSilence(of slot: Int) {
        let now = now().mono
        heard.set(UInt32(slot), to: now)
        checkSilence(of: slot, at: now.advanced(byMilliseconds: patienceMilliseconds(slot)))
    }

    private mutating func checkSilence(of slot: Int, at deadline: Mono) {
        deadlines.set(&connections[slot].silence.deadline, .silence, of: slot, to: deadline)
    }

    /// How long a client may be silent until something is done about it.
    private func patienceMilliseconds(_ slot: Int) -> UInt64 {
        if connections[slot].framing.hasStanzas { return XMPPSilence.pingMilliseconds }
        return connections[slot].framing.hasControlFrames
            ? UInt64(configuration.engine.heartbeatSeconds) * 1_000
            : configuration.engine.silenceMillisecondsMax
    }

    /// How long a client may be silent until its connection is closed.
    private func silenceMillisecondsMax(_ slot: Int) -> UInt64 {
        connections[slot].framing.hasStanzas
            ? XMPPSilence.millisecondsMax : configuration.engine.silenceMillisecondsMax
    }

    /// Whether a silent client is asked for a sign of life.
    private func canBeAsked(_ slot: Int) -> Bool {
        connections[slot].framing.hasControlFrames || connections[slot].framing.hasStanzas
    }

    /// Notes that `byteCount` bytes have been read from a client.
    mutating func hear(_ slot: Int, byteCount: Int, at now: Moment) {
        guard connections[slot].phase == .serving else { return }
        guard connections[slot].input.reading == .catchingUp else {
            return heard.set(UInt32(slot), to: now.mono)
        }
        hear(slot, at: received(slot, at: now.mono) ?? now.mono)
        // A short read has emptied the socket.
        if byteCount < ReadBudget.smallReadBytes { connections[slot].input.caughtUp() }
    }

    private func hear(_ slot: Int, at time: Mono) {
        heard.set(UInt32(slot), to: max(time, heard.time(UInt32(slot))))
    }

    /// A client that is throttled, or waits for its turn, is not read from. Bytes that arrive in
    /// the kernel meanwhile are its signs of life.
    mutating func hearWhatWaits(in slot: Int) {
        guard connections[slot].phase == .serving, connections[slot].input.isPaused
        else { return }
        let now = now().mono
        // A system call for each frame would be too much.
        let half = silenceMillisecondsMax(slot) / 2
        guard heard.time(UInt32(slot)).advanced(byMilliseconds: half) <= now,
            let received = received(slot, at: now)
        else { return }
        hear(slot, at: received)
    }

    /// A client that does not read its responses is not read from, and one that has ended its side
    /// sends no more. That they read responses is their sign of life then.
    mutating func noteProgress(of slot: Int) {
        let isEnding = connections[slot].phase == .ending
        guard isEnding || connections[slot].phase == .serving,
            isEnding || connections[slot].input.isPaused
        else { return }
        hear(slot, at: now().mono)
    }

    /// Closes a connection that has been silent for one and a half heartbeats. One that has sent
    /// since is looked at again: only now does that cost an operation of the wheel.
    mutating func silenceSuspected(of slot: Int, at now: Moment) {
        hearWhatWaits(in: slot)
        let silence = silenceMillisecondsMax(slot)
        var deadline = heard.time(UInt32(slot)).advanced(byMilliseconds: silence)
        // It is not read from while its request waits: it may have sent.
        let isUnread = connections[slot].input.awaiting != nil
        if connections[slot].silence.mayHaveArrived(isUnread: isUnread) {
            let soon = now.mono.advanced(byMilliseconds: Self.readingMilliseconds)
            deadline = max(deadline, soon)
        }
        guard deadline > now.mono else { return close(slot, .idleTimeout) }
        let pingTime = heard.time(UInt32(slot)).advanced(byMilliseconds: patienceMilliseconds(slot))
        guard canBeAsked(slot), pingTime < deadline,
            connections[slot].input.awaiting == nil
        else {
            return checkSilence(of: slot, at: deadline)
        }
        guard pingTime <= now.mono else { return checkSilence(of: slot, at: pingTime) }
        sendPing(to: slot)
        checkSilence(of: slot, at: deadline)
    }

    private mutating func sendPing(to slot: Int) {
        if connections[slot].framing.hasStanzas { return askForLife(of: slot) }
        counters.pingsSent += 1
        markDirty(slot)
        fill(slot) { outbox, framing in framing.appendPing(to: &outbox) }
    }

    /// When bytes of the client last arrived in the kernel.
    private func received(_ slot: Int, at now: Mono) -> Mono? {
        loop.millisecondsSinceReceived(connections[slot].id).map {
            Mono(milliseconds: now.milliseconds - min($0, now.milliseconds))
        }
    }
}
