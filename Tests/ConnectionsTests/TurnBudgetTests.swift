import PresenceCore
import Testing

@testable import Connections

@Suite struct TurnBudgetTests {
    private func budget(work: Int, ofConnection: Int, light: Int) -> TurnBudget {
        var limits = TurnLimits()
        limits.work = work
        limits.workOfConnection = ofConnection
        limits.workOfLight = light
        var budget = TurnBudget()
        budget.beginTurn(limits, at: Mono(milliseconds: 0))
        return budget
    }

    @Test func `a message weighs a unit for each KiB, and at least one`() {
        let weights = [0, 1, 1_024, 1_025, 53_000, 65_536].map(TurnBudget.weight(byteCount:))
        #expect(weights == [1, 1, 1, 2, 52, 64])
    }

    @Test func `a connection has its share, and others have theirs in the same turn`() {
        var budget = budget(work: 100, ofConnection: 30, light: 10)
        budget.beginShare(of: 1, isLight: true)
        budget.spend(30)
        #expect(!budget.hasRoom)
        #expect(budget.hasTurnForHeavy)
        budget.beginShare(of: 2, isLight: true)
        #expect(budget.hasRoom)
    }

    @Test func `a socket that is read again continues in the share that it has`() {
        var budget = budget(work: 100, ofConnection: 30, light: 10)
        budget.beginShare(of: 1, isLight: true)
        budget.spend(30)
        #expect(budget.isServing(1) && !budget.isServing(2))
        #expect(!budget.hasRoom)
    }

    @Test func `when a turn is used up, only those that have sent little go on, to a limit`() {
        var budget = budget(work: 60, ofConnection: 60, light: 10)
        budget.beginShare(of: 1, isLight: true)
        budget.spend(60)
        budget.beginShare(of: 2, isLight: true)
        #expect(!budget.hasRoom)
        #expect(budget.hasRoomForLight)
        budget.spend(10)
        #expect(!budget.hasTurnForLight)
    }

    @Test func `those that have sent much have a share of each turn, whatever others send`() {
        var budget = budget(work: 60, ofConnection: 20, light: 100)
        budget.beginShare(of: 1, isLight: true)
        budget.spend(150)
        #expect(budget.hasTurnForHeavy)
        budget.beginShare(of: 2, isLight: false)
        #expect(budget.hasRoom)
        budget.spend(20)
        #expect(!budget.hasRoom)
        #expect(!budget.hasTurnForHeavy)
    }

    @Test func `an event counts by its receivers, and by their bytes`() {
        var budget = budget(work: 60, ofConnection: 60, light: 0)
        budget.beginShare(of: 1, isLight: false)
        budget.spendDelivery(byteCount: 200, receivers: 15)
        budget.spend(59)
        #expect(budget.hasRoom)
        budget.spendDelivery(byteCount: 200, receivers: 16)
        #expect(!budget.hasRoom)
        budget.beginTurn(TurnLimits(), at: Mono(milliseconds: 0))
        budget.beginShare(of: 1, isLight: false)
        budget.spendDelivery(byteCount: 4_200, receivers: 409)
        #expect(budget.hasRoom, "127 units")
        budget.spendDelivery(byteCount: 4_200, receivers: 4)
        #expect(!budget.hasRoom)
    }

    @Test func `answers to earlier requests count`() {
        var budget = budget(work: 60, ofConnection: 20, light: 100)
        budget.spendAnswers(59)
        #expect(budget.hasRoomForAnswers)
        budget.spendAnswers(1)
        #expect(!budget.hasRoomForAnswers)
    }

    @Test func `a connection is light while few of its bytes wait and it has used few tokens`() {
        let budget = TurnBudget()
        #expect(budget.isLight(bytesWaiting: 4_096, tokensMissing: 64))
        #expect(!budget.isLight(bytesWaiting: 4_097, tokensMissing: 0))
        #expect(!budget.isLight(bytesWaiting: 0, tokensMissing: 65))
    }

    @Test func `what the engine visits is work`() {
        #expect([0, 255, 256, 65_436].map(TurnBudget.units(visits:)) == [0, 0, 1, 255])
    }

    @Test func `a turn that begins has its whole budget`() {
        var limits = TurnLimits()
        limits.work = 10
        var budget = TurnBudget()
        budget.beginTurn(limits, at: Mono(milliseconds: 0))
        budget.beginShare(of: 1, isLight: false)
        budget.spend(128)
        #expect(!budget.hasTurnForHeavy)
        budget.beginTurn(limits, at: Mono(milliseconds: 0))
        #expect(!budget.isServing(1))
        budget.beginShare(of: 1, isLight: true)
        #expect(budget.hasRoom)
    }
}

@Suite struct ResumeQueueTests {
    @Test func `each connection waits once, in the order of arrival`() {
        var queue = ResumeQueue()
        queue.append(3, isLight: false)
        queue.append(1, isLight: false)
        queue.append(2, isLight: true)
        #expect(queue.takeLight() == 2)
        #expect(queue.takeLight() == nil)
        #expect(queue.takeHeavy() == 3)
        #expect(queue.takeHeavy() == 1)
        #expect(queue.isEmpty)
    }

    @Test func `input is heard up to now only when those that sent little were served`() {
        var queue = ResumeQueue()
        let first = Mono(milliseconds: 10)
        let second = Mono(milliseconds: 20)
        let third = Mono(milliseconds: 30)
        #expect(queue.heard(at: first, before: Mono(milliseconds: 0)) == first)
        queue.append(1, isLight: true)
        #expect(queue.heard(at: second, before: first) == first)
        #expect(queue.takeLight() == 1)
        queue.append(2, isLight: true)
        // What had arrived at the second time has been served; the other one came later.
        #expect(queue.heard(at: third, before: first) == second)
    }

    @Test func `connections that have sent much are not waited for`() {
        var queue = ResumeQueue()
        queue.append(1, isLight: false)
        let now = Mono(milliseconds: 10)
        #expect(queue.heard(at: now, before: Mono(milliseconds: 0)) == now)
    }
}
