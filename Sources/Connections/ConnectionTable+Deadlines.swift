import Containers
public import PresenceCore

// Deadlines of connections: for a login, a frame or the final frame, progress, the rate limit, the
// end of a token, and silence.

/// What a deadline of a connection is for.
public enum ConnectionDeadline: UInt64, Sendable {
    /// What the phase of the connection waits for has not come.
    case phase
    /// Some of what is pending must have been taken.
    case progress
    /// A connection that has asked too much may ask again.
    case throttle
    /// The token ends that the session was begun with.
    case token
    /// It may have been silent for too long.
    case silence

    func payload(_ slot: Int) -> UInt64 { rawValue << 32 | UInt64(slot) }

    static func parts(of payload: UInt64) -> (Self, slot: Int) {
        guard let kind = Self(rawValue: payload >> 32) else {
            preconditionFailure("a payload of no known deadline")
        }
        return (kind, Int(payload & 0xFFFF_FFFF))
    }
}

extension TimingWheel {
    /// Sets a timer of the connection in a slot.
    mutating func set(
        _ timer: inout WheelTimer, _ kind: ConnectionDeadline, of slot: Int, to deadline: Mono
    ) {
        set(&timer, to: deadline.milliseconds, payload: kind.payload(slot))
    }
}

extension ConnectionTable {
    /// Takes a deadline that is due. What it is for decides what is to be called: `hasProgressed`,
    /// `throttleEnded`, `tokenExpired`, `checkSilence`; for `.phase`, nothing.
    public mutating func popDue(now: Mono) -> (kind: ConnectionDeadline, slot: Int)? {
        guard let due = deadlines.popDue(now: now.milliseconds) else { return nil }
        let (kind, slot) = ConnectionDeadline.parts(of: due.payload)
        if kind == .phase { slots[slot].deadline.fired() }
        return (kind, slot)
    }

    /// When the next deadline may be due.
    public var nextDeadline: Mono? { deadlines.nextWake.map { Mono(milliseconds: $0) } }

    // MARK: Of a phase

    /// Sets the time by which the phase of a connection must have ended, or its frame be complete.
    public mutating func setDeadline(of slot: Int, to deadline: Mono) {
        deadlines.set(&slots[slot].deadline, .phase, of: slot, to: deadline)
    }

    /// Takes that deadline back, if there is one.
    public mutating func clearDeadline(of slot: Int) {
        deadlines.clear(&slots[slot].deadline)
    }

    /// Whether there is one.
    public func hasDeadline(_ slot: Int) -> Bool { slots[slot].deadline.isSet }

    // MARK: Of a rate limit

    /// Charges a connection for what it has sent. Above its rate limit, it counts as throttled, and
    /// `.throttle` is due when it may send more. Returns whether it is above.
    public mutating func charge(_ slot: Int, _ weight: Int, _ pace: Pace, at now: Mono) -> Bool {
        guard let wait = slots[slot].requests.charge(pace, count: weight, at: now) else {
            return false
        }
        slots[slot].input.isThrottled = true
        remind(slot, at: now.advanced(byMilliseconds: wait))
        return true
    }

    /// How many tokens of the rate limit of a connection are missing.
    public func tokensMissing(_ slot: Int, _ pace: Pace, at now: Mono) -> Int {
        slots[slot].requests.missing(pace, at: now)
    }

    /// Has `.throttle` be due at a time. The slot may have another connection then: to check once
    /// too often does no harm.
    public mutating func remind(_ slot: Int, at time: Mono) {
        _ = deadlines.schedule(
            ConnectionDeadline.throttle.payload(slot), at: time.milliseconds)
    }

    /// `.throttle` is due: the connection may send more.
    public mutating func throttleEnded(_ slot: Int) { slots[slot].input.isThrottled = false }

    // MARK: Of a token

    /// Whether the session of a connection ends with a token.
    public func hasToken(_ slot: Int) -> Bool { slots[slot].token.deadline.isSet }

    /// Sets the time at which the token of a session expires.
    public mutating func setToken(of slot: Int, until deadline: Mono) {
        deadlines.set(&slots[slot].token.deadline, .token, of: slot, to: deadline)
    }

    /// A new token is being verified: the session does not end meanwhile.
    public mutating func beginRefresh(of slot: Int) { slots[slot].token.beginRefresh() }

    /// The new token has been verified, or rejected. Returns whether the session ends now: the old
    /// one has expired meanwhile.
    public mutating func endRefresh(of slot: Int) -> Bool { slots[slot].token.endRefresh() }

    /// `.token` is due. Returns whether the session ends now.
    public mutating func tokenExpired(_ slot: Int) -> Bool { slots[slot].token.expire() }
}
