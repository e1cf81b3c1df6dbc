import Containers
import EventLoop
public import PresenceCore

// Silence: a connection whose client sends nothing for too long is closed, after it was asked for a
// sign of life if its protocol has such a question.
//
// Bytes count from the time at which they arrived, not from that at which the service read them: a
// connection that is not read from for a while does not count as silent for that, nor do bytes
// that arrived long ago count as recent.

/// How long a client may be silent.
public struct Patience: Sendable {
    /// Milliseconds until something is done about it.
    public var milliseconds: UInt64
    /// Milliseconds until its connection is closed.
    public var millisecondsMax: UInt64
    /// Whether it is asked for a sign of life before.
    public var canAsk: Bool
    /// Whether it is a sign of life that its kernel acknowledges what it is sent.
    public var countsAcknowledgements: Bool

    /// A patience.
    public init(
        milliseconds: UInt64, millisecondsMax: UInt64, canAsk: Bool,
        countsAcknowledgements: Bool = false
    ) {
        self.milliseconds = milliseconds
        self.millisecondsMax = millisecondsMax
        self.canAsk = canAsk
        self.countsAcknowledgements = countsAcknowledgements
    }
}

/// What follows from a check of a connection's silence.
public enum SilenceOutcome: Sendable {
    /// Nothing yet: it is checked again.
    case waits
    /// It is to be asked for a sign of life, and is checked again.
    case ask
    /// It is to be closed.
    case close
}

extension ConnectionTable {
    /// The milliseconds within which bytes that have arrived are certainly read.
    private static var readingMilliseconds: UInt64 { 1_000 }

    /// When bytes of a connection last arrived.
    public func lastHeard(_ slot: Int) -> Mono { heard.time(UInt32(slot)) }

    /// Begins to watch a connection that has logged in.
    public mutating func watchSilence(of slot: Int, _ patience: Patience, at now: Mono) {
        heard.set(UInt32(slot), to: now)
        checkSilence(of: slot, at: now.advanced(byMilliseconds: patience.milliseconds))
    }

    private mutating func checkSilence(of slot: Int, at deadline: Mono) {
        deadlines.set(&slots[slot].silence.deadline, .silence, of: slot, to: deadline)
    }

    /// Notes that `byteCount` bytes have been read from a client.
    public mutating func hear(_ slot: Int, byteCount: Int, at now: Mono) {
        guard slots[slot].phase == .serving else { return }
        guard slots[slot].input.reading == .catchingUp else {
            return heard.set(UInt32(slot), to: now)
        }
        hear(slot, at: received(slot, at: now) ?? now)
        // A short read has emptied the socket.
        if byteCount < ReadBudget.smallReadBytes { slots[slot].input.caughtUp() }
    }

    private func hear(_ slot: Int, at time: Mono) {
        heard.set(UInt32(slot), to: max(time, heard.time(UInt32(slot))))
    }

    /// A client that is throttled, or waits for its turn, is not read from. Bytes that arrive in
    /// the kernel meanwhile are its signs of life.
    public func hearWhatWaits(in slot: Int, _ patience: Patience, at now: Mono) {
        guard slots[slot].phase == .serving, slots[slot].input.isPaused else { return }
        // A system call for each frame would be too much.
        let half = patience.millisecondsMax / 2
        guard heard.time(UInt32(slot)).advanced(byMilliseconds: half) <= now,
            let received = received(slot, at: now)
        else { return }
        hear(slot, at: received)
    }

    /// A client has read something. If it is not read from, or has ended its side, that is its sign
    /// of life.
    public func noteProgress(of slot: Int, at now: Mono) {
        let isEnding = slots[slot].phase == .ending
        guard isEnding || slots[slot].phase == .serving, isEnding || slots[slot].input.isPaused
        else { return }
        hear(slot, at: now)
    }

    /// `.silence` is due. A connection that has sent since is looked at again: only now does that
    /// cost an operation of the wheel. `isWaiting`: its request is in progress, so it is not read
    /// from.
    public mutating func checkSilence(
        of slot: Int, _ patience: Patience, isWaiting: Bool, at now: Mono
    ) -> SilenceOutcome {
        slots[slot].silence.deadline.fired()
        hearWhatWaits(in: slot, patience, at: now)
        if patience.countsAcknowledgements { hearAcknowledgement(of: slot, at: now) }
        let last = heard.time(UInt32(slot))
        var deadline = last.advanced(byMilliseconds: patience.millisecondsMax)
        // It may have sent while it was not read from.
        if slots[slot].silence.mayHaveArrived(isUnread: isWaiting) {
            deadline = max(deadline, now.advanced(byMilliseconds: Self.readingMilliseconds))
        }
        guard deadline > now else { return .close }
        let askTime = last.advanced(byMilliseconds: patience.milliseconds)
        guard patience.canAsk, askTime < deadline, !isWaiting else {
            checkSilence(of: slot, at: deadline)
            return .waits
        }
        guard askTime <= now else {
            checkSilence(of: slot, at: askTime)
            return .waits
        }
        checkSilence(of: slot, at: deadline)
        return .ask
    }

    /// When bytes of the client last arrived in the kernel.
    private func received(_ slot: Int, at now: Mono) -> Mono? {
        sockets.millisecondsSinceReceived(slots[slot].id).map { Self.time($0, before: now) }
    }

    /// What the client's kernel has acknowledged is a sign of life.
    private func hearAcknowledgement(of slot: Int, at now: Mono) {
        guard let delivery = sockets.delivery(slots[slot].id) else { return }
        hear(slot, at: Self.time(delivery.millisecondsSince, before: now))
    }

    private static func time(_ milliseconds: UInt64, before now: Mono) -> Mono {
        Mono(milliseconds: now.milliseconds - min(milliseconds, now.milliseconds))
    }
}
