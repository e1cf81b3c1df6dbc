import Containers

extension Operation {
    /// The timing wheel. Deadlines are what the service has: seconds to weeks.
    static let wheel: [Operation] = [
        Operation("wheel: insert and cancel") {
            let world = Timers(count: 100_000)
            return Work { world.insertAndCancel() }
        },
        Operation("wheel: renew") {
            let world = Timers(count: 100_000)
            return Work { world.renew() }
        },
        Operation("wheel: insert and fire, 30 s") {
            let world = Timers(count: 0)
            return Work { world.insertAndFire(after: 30_000) }
        },
        Operation("wheel: insert and fire, cascading from 30 d") {
            let world = Timers(count: 0)
            return Work { world.insertAndFire(after: 2_592_000_000) }
        },
    ]
}

/// A wheel with timers in it.
public final class Timers {
    private var wheel = TimingWheel(now: 0)
    private var ids: [TimerID] = []
    private var random = SplitMix64(seed: 7)
    private var now: UInt64 = 0
    private var sum: UInt64 = 0

    /// `count` timers, due within 30 days.
    public init(count: Int) {
        ids.reserveCapacity(count)
        for number in 0..<count { ids.append(wheel.schedule(UInt64(number), at: deadline())) }
    }

    /// What a timer takes.
    public var bytesEach: Double { Double(wheel.bytesReserved) / Double(max(wheel.count, 1)) }

    private func deadline() -> UInt64 { now + 60_000 + random.next() % 2_592_000_000 }

    func insertAndCancel() { wheel.cancel(wheel.schedule(1, at: deadline())) }

    /// Gives a timer that was chosen by chance another deadline.
    public func renew() {
        wheel.reschedule(ids[Int(random.next() % UInt64(ids.count))], at: deadline())
    }

    func insertAndFire(after milliseconds: UInt64) {
        _ = wheel.schedule(1, at: now + milliseconds + random.next() % 1_000)
        now += milliseconds / 100
        fire()
    }

    private func fire() {
        while let due = wheel.popDue(now: now) { sum &+= due.deadline }
    }

    /// Lets all of them fall due, over 30 days in steps of 10 s; gives how many they were.
    public func fireAll() -> Int {
        let count = wheel.count
        while wheel.count > 0 {
            now += 10_000
            fire()
        }
        return count
    }
}
