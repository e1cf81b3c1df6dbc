import Containers
import Testing

@testable import PresenceGateway

/// The rules of the pool, on lists that are searched.
private struct PoolModel {
    let connectionsMax: Int
    let waitersMax: Int
    /// Unused connections in the order of their last use, each with the sweeps since.
    var unused: [(connection: FakeConnection, sweeps: Int)] = []
    var waiting: [Int] = []
    var outcomes: [Int: String] = [:]
    var busy = 0
    var opened = 0
    var refused = 0
    var lastWait = 0
    var isClosed = false

    mutating func borrow() -> String {
        if isClosed { return "closed" }
        let usable = unused.last { $0.connection.isOpen }?.connection
        while let last = unused.popLast(), last.connection !== usable {}
        if let usable {
            busy += 1
            return "take \(usable.number)"
        }
        if busy < connectionsMax {
            busy += 1
            opened += 1
            return "open"
        }
        if waiting.count == waitersMax {
            refused += 1
            return "refused"
        }
        lastWait += 1
        waiting.append(lastWait)
        return "wait \(lastWait)"
    }

    mutating func giveBack(_ connection: FakeConnection?) -> Int? {
        let usable = connection?.isOpen == true ? connection : nil
        if !waiting.isEmpty {
            outcomes[waiting.removeFirst()] = usable.map { "take \($0.number)" } ?? "open"
            if usable == nil { opened += 1 }
            return nil
        }
        busy -= 1
        if isClosed { return usable?.number }
        if let usable { unused.append((usable, 0)) }
        return nil
    }

    mutating func leave(_ number: Int) {
        guard waiting.contains(number) else { return }
        waiting.removeAll { $0 == number }
        outcomes[number] = "overloaded"
    }

    mutating func sweep() -> [Int] {
        for place in unused.indices { unused[place].sweeps += 1 }
        defer { unused.removeAll { $0.sweeps >= 2 } }
        return unused.filter { $0.sweeps >= 2 }.map(\.connection.number)
    }

    mutating func close() -> [Int] {
        isClosed = true
        for number in waiting { outcomes[number] = "ended" }
        waiting = []
        defer { unused = [] }
        return unused.map(\.connection.number)
    }
}

/// A pool and its model, which are given the same calls.
private struct PoolHistory {
    let fake: FakePool
    var model: PoolModel
    var random: SplitMix64
    /// What requests hold: connections, and nil for a right to open one.
    var held: [FakeConnection?] = []
    var all: [Int: FakeConnection] = [:]
    var grantsTaken: Set<Int> = []

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let connectionsMax = Int.random(in: 1...5, using: &random)
        let waitersMax = Int.random(in: 0...4, using: &random)
        fake = FakePool(connectionsMax: connectionsMax, waitersMax: waitersMax)
        model = PoolModel(connectionsMax: connectionsMax, waitersMax: waitersMax)
        self.random = random
    }

    /// Carries out one random call; whether pool and model gave the same.
    mutating func step() -> Bool {
        let isSame =
            switch Int.random(in: 0..<200, using: &random) {
            case 0..<80: borrow()
            case 80..<150: giveBack()
            case 150..<170: leave()
            case 170..<185: end()
            case 185..<199: fake.sweep() == model.sweep()
            default: Int.random(in: 0..<4, using: &random) > 0 || fake.close() == model.close()
            }
        takeGrants()
        return isSame && isEqual
    }

    private mutating func borrow() -> Bool {
        let turn = fake.borrow()
        if turn == "open" { held.append(nil) }
        if turn.hasPrefix("take ") { held.append(Int(turn.dropFirst(5)).flatMap { all[$0] }) }
        return turn == model.borrow()
    }

    private mutating func giveBack() -> Bool {
        guard let place = held.indices.randomElement(using: &random) else { return true }
        var connection = held.remove(at: place)
        if connection == nil, Int.random(in: 0..<4, using: &random) > 0 {
            let new = fake.newConnection()
            all[new.number] = new
            connection = new
        }
        if Int.random(in: 0..<4, using: &random) == 0 { connection?.close() }
        return fake.giveBack(connection) == model.giveBack(connection)
    }

    /// A wait ends early: often one of those that wait, at times one that has ended.
    private mutating func leave() -> Bool {
        let any = Int.random(in: 0...model.lastWait, using: &random)
        let number = Bool.random(using: &random) ? model.waiting.randomElement(using: &random) : any
        fake.pool.leave(number ?? any, GatewayError.overloaded)
        model.leave(number ?? any)
        return true
    }

    /// The service closes a connection that nothing uses.
    private mutating func end() -> Bool {
        model.unused.randomElement(using: &random)?.connection.close()
        return true
    }

    private mutating func takeGrants() {
        for (number, connection) in fake.grants where grantsTaken.insert(number).inserted {
            held.append(connection)
        }
    }

    private var isEqual: Bool {
        fake.now == [model.busy, model.unused.count, model.waiting.count]
            && fake.totals == [model.opened, model.refused]
            && fake.outcomes == model.outcomes && held.count == model.busy
    }
}

@Suite struct `A pool, at random` {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `decides as lists do that are searched`(seed: UInt64) {
        print("seed \(seed)")
        var history = PoolHistory(seed: seed)
        for step in 0..<500 {
            let isSame = history.step()
            #expect(isSame, "seed \(seed), step \(step)")
            guard isSame else { return }
        }
    }
}
