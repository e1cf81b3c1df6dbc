import Testing

@testable import Containers

/// The same rules as the wheel's, on an array that is searched.
private struct SortedDeadlines {
    struct Entry {
        let id: TimerID
        let payload: UInt64
        let deadline: UInt64
    }

    /// In the order in which they are to come out.
    private(set) var entries: [Entry] = []
    private var current: UInt64
    private var latestNow: UInt64

    init(now: UInt64) {
        current = now
        latestNow = now
    }

    mutating func insert(_ id: TimerID, _ payload: UInt64, at deadline: UInt64) {
        let deadline = max(deadline, current)
        let place = entries.firstIndex { $0.deadline > deadline } ?? entries.count
        entries.insert(Entry(id: id, payload: payload, deadline: deadline), at: place)
    }

    mutating func remove(at index: Int) -> Entry {
        entries.remove(at: index)
    }

    mutating func popDue(now: UInt64) -> DueTimer? {
        latestNow = max(latestNow, now)
        guard let first = entries.first, first.deadline <= latestNow else {
            current = latestNow
            return nil
        }
        current = first.deadline
        entries.removeFirst()
        return DueTimer(payload: first.payload, deadline: first.deadline)
    }
}

/// A wheel and its oracle, which are given the same calls and must give the same answers.
private struct Pair: ~Copyable {
    var wheel: TimingWheel
    var oracle: SortedDeadlines
    var random: SplitMix64
    var now: UInt64
    var payload: UInt64 = 0
    let bitsMax: Int

    init(seed: UInt64, now: UInt64, bitsMax: Int) {
        wheel = TimingWheel(now: now)
        oracle = SortedDeadlines(now: now)
        random = SplitMix64(seed: seed)
        self.now = now
        self.bitsMax = bitsMax
    }

    private mutating func deadline() -> UInt64 {
        let distance = random.number(bitsMax: bitsMax)
        let isPast = Int.random(in: 0..<16, using: &random) == 0
        return isPast ? now - min(now, distance) : now + distance
    }

    mutating func schedule() {
        payload += 1
        let deadline = deadline()
        oracle.insert(wheel.schedule(payload, at: deadline), payload, at: deadline)
    }

    mutating func disturb() {
        guard !oracle.entries.isEmpty else { return }
        let index = Int.random(in: 0..<oracle.entries.count, using: &random)
        let entry = oracle.remove(at: index)
        if Bool.random(using: &random) {
            wheel.cancel(entry.id)
        } else {
            let deadline = deadline()
            wheel.reschedule(entry.id, at: deadline)
            oracle.insert(entry.id, entry.payload, at: deadline)
        }
    }

    /// Moves on, mostly a little and at times far, and pops up to a budget.
    mutating func advance() -> Bool {
        let isJump = Int.random(in: 0..<64, using: &random) == 0
        now += random.number(bitsMax: isJump ? bitsMax : bitsMax - 8)
        var budget = Int.random(in: 1...(isJump ? 300 : 3), using: &random)
        while budget > 0 {
            let expected = oracle.popDue(now: now)
            guard wheel.popDue(now: now) == expected else { return false }
            guard expected != nil else { break }
            budget -= 1
        }
        return true
    }

    func agrees() -> Bool {
        guard wheel.count == oracle.entries.count else { return false }
        guard let next = oracle.entries.first?.deadline else { return wheel.nextWake == nil }
        guard let wake = wheel.nextWake else { return false }
        return wake <= next
    }
}

@Suite struct TimingWheelRandomTests {
    /// The longest distances: within level 1, a day, two months, beyond the horizon.
    @Test(arguments: [(UInt64(1), 12), (2, 27), (3, 33), (4, 42)])
    func `random calls give what a sorted array gives`(seed: UInt64, bitsMax: Int) {
        var pair = Pair(seed: seed, now: seed << 34, bitsMax: bitsMax)
        var countMax = 0
        for operation in 0..<40_000 {
            switch Int.random(in: 0..<16, using: &pair.random) {
            case 0..<8: pair.schedule()
            case 8..<14: pair.disturb()
            default:
                let isEqual = pair.advance()
                #expect(isEqual, "seed \(seed), operation \(operation)")
                guard isEqual else { return }
            }
            let agrees = pair.agrees()
            #expect(agrees, "seed \(seed), operation \(operation)")
            guard agrees else { return }
            countMax = max(countMax, pair.wheel.count)
            if operation % 512 == 0 { pair.wheel.checkInvariants() }
        }
        let isEqual = pair.advance()
        #expect(isEqual)
        #expect(countMax > 150, "the wheel was never full enough to mean something")
    }
}
