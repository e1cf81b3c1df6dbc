// Bounds the input of clients that a turn of the loop carries out. Input beyond it waits in the
// connections' splitters and in the kernel, and the loop writes and polls before it continues.
//
// Work is counted in units: a message has one for each KiB that it has or is answered with, at
// least one, and one for each 16 names in it and each 16 KiB that are delivered to others. The
// worst a KiB can hold takes some 7 µs (JSON of many keys, XML of many references), a short request
// about as much. So a turn with the default limits takes some milliseconds, whatever clients send,
// and that is what a ping waits for.
//
// The engine counts what it visits in its own loops, and 256 entries are a unit, too.
//
// A connection that has cost little goes first: few of its bytes wait, and it has used few tokens
// of its rate limit, from which answers are taken by their size, and work, too. It has room of its
// own in a turn, so it does not wait for those that have cost much. These continue in the order in
// which they came, a share each, and at least one share of each turn is theirs.

public import PresenceCore

/// The limits of what a turn of the loop carries out.
public struct TurnLimits: Sendable {
    /// Units of work for all connections of a loop. The last message of a turn may exceed it.
    public var work = 512
    /// Units of one connection before others have their share, and those that connections that
    /// have sent much have in each turn, whatever others send.
    public var workOfConnection = 128
    /// Further units, for connections that have sent little.
    public var workOfLight = 2_048
    /// The most bytes that may wait on a connection that has sent little.
    public var lightBytesMax = 4_096
    /// The most tokens of its rate limit that such a connection may have used.
    public var lightTokensMax = 64

    /// The defaults.
    public init() {}
}

/// How much work is left in a turn, and in the share of the connection that is served.
public struct TurnBudget {
    private var limits = TurnLimits()
    /// When the turn began.
    public private(set) var began = Mono(milliseconds: 0)
    /// Of the turn. Negative: connections that have sent little were given more.
    private var left = 0
    /// Of those that have sent much, in any case.
    private var heavyLeft = 0
    private var shareLeft = 0
    private var isServedLight = true
    /// The slot of the connection that is served. In one turn, a socket may be read several times
    /// in succession.
    private var served: Int?

    /// One of a turn that has not begun.
    public init() {}

    /// Begins a turn.
    public mutating func beginTurn(_ limits: TurnLimits, at now: Mono) {
        self.limits = limits
        began = now
        left = limits.work
        heavyLeft = limits.workOfConnection
        served = nil
    }

    /// Gives a connection another share.
    public mutating func beginShare(of slot: Int, isLight: Bool) {
        served = slot
        shareLeft = limits.workOfConnection
        isServedLight = isLight
    }

    /// Whether a connection was served last: of it, more may have arrived, which is carried out in
    /// the share that it has.
    public func isServing(_ slot: Int) -> Bool { served == slot }

    /// Whether the turn has room for a connection that has sent much.
    public var hasTurnForHeavy: Bool { left > 0 || heavyLeft > 0 }
    /// Whether the turn has room for a connection that has sent little.
    public var hasTurnForLight: Bool { left > -limits.workOfLight }
    /// Whether the connection that is served may continue.
    public var hasRoom: Bool { shareLeft > 0 && (left > 0 || !isServedLight && heavyLeft > 0) }
    /// The same if it has sent little.
    public var hasRoomForLight: Bool { hasTurnForLight && shareLeft > 0 }

    /// Charges the turn, and the connection that is served, for an event: a sixteenth of a unit for
    /// each receiver and each further KiB that it gets.
    @inline(__always)
    public mutating func spendDelivery(byteCount: Int, receivers: Int) {
        spend((receivers * (1 + (byteCount >> 10))) >> 4)
    }

    /// Whether this is little: bytes that wait, and tokens that were used.
    public func isLight(bytesWaiting: Int, tokensMissing: Int) -> Bool {
        bytesWaiting <= limits.lightBytesMax && tokensMissing <= limits.lightTokensMax
    }

    /// Work was done for the connection that is served.
    public mutating func spend(_ work: Int) {
        left -= work
        shareLeft -= work
        if !isServedLight { heavyLeft -= work }
    }

    /// Whether the turn has room for answers to earlier requests.
    public var hasRoomForAnswers: Bool { left > 0 }

    /// Charges the turn for answers to earlier requests.
    public mutating func spendAnswers(_ work: Int) { left -= work }

    /// Units of work of what the engine has visited.
    public static func units(visits: Int) -> Int { visits >> 8 }

    /// The weight of a message: units of work, and what it counts for the rate limit.
    public static func weight(byteCount: Int) -> Int { max(1, (byteCount + 1_023) >> 10) }
}

/// The connections of a loop whose input waits for a later turn, each once.
struct ResumeQueue {
    /// Those that have sent little.
    private(set) var light = FlushQueue()
    /// Those that have sent much.
    private(set) var heavy = FlushQueue()
    /// A time, and how many of `light` must have been taken so that what had arrived by then was
    /// carried out.
    private var mark: (time: Mono, queued: Int)?

    var isEmpty: Bool { light.isEmpty && heavy.isEmpty }

    mutating func append(_ slot: Int, isLight: Bool) {
        if isLight { light.append(UInt32(slot)) } else { heavy.append(UInt32(slot)) }
    }

    mutating func takeLight() -> Int? { light.isEmpty ? nil : light.takeFirst() }
    mutating func takeHeavy() -> Int? { heavy.isEmpty ? nil : heavy.takeFirst() }

    /// Up to when everything that had arrived was carried out, at the end of a turn; `before` at
    /// the end of the one before. A device may have returned in time, and its login wait: deadlines
    /// fire only if they were due by then. Connections that have sent much are not waited for.
    mutating func heard(at now: Mono, before: Mono) -> Mono {
        guard !light.isEmpty else {
            mark = nil
            return now
        }
        let progress = light.progress
        let reached = mark.flatMap { $0.queued <= progress.written ? $0.time : nil }
        if mark == nil || reached != nil { mark = (now, progress.queued) }
        return reached ?? before
    }

    /// Frees the memory of those that were taken.
    mutating func compact() {
        light.compact()
        heavy.compact()
    }
}
