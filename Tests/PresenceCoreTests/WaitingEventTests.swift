import Testing

@testable import PresenceCore

/// Which event is dropped when too many of a topic wait for their walk.
@Suite struct `Events that wait for their walk` {
    private static let topic = TopicHandle(index: 3)

    private enum Kind {
        case plain, ending, hiding
    }

    private func event(_ seq: UInt64, _ kind: Kind) -> FanOuts.Waiting {
        let ends =
            kind == .ending
            ? [EndedPresenceLog.Entry(seq: seq, publisher: Array("bob".utf8), part: .sight)] : []
        return FanOuts.Waiting(
            seq: seq, viewers: .all, isOfHiding: kind == .hiding, ends: ends[...])
    }

    /// The events that are dropped when these are added, in this order, with numbers from 1 on.
    private func dropped(_ kinds: [Kind]) -> [UInt64] {
        var fanOuts = FanOuts()
        return kinds.enumerated().compactMap { index, kind in
            fanOuts.add(event(UInt64(index + 1), kind), of: Self.topic).dropped
        }
    }

    private let few = FanOuts.waitingMax
    private let many = 4 * FanOuts.waitingMax

    @Test func `is the oldest, and never the one that is being walked`() {
        #expect(dropped(Array(repeating: .plain, count: few + 1)) == [])
        #expect(dropped(Array(repeating: .plain, count: few + 3)) == [2, 3])
    }

    @Test func `is none that ends something while there are few of those`() {
        let ending = Array(repeating: Kind.ending, count: many)
        #expect(dropped(ending + [.hiding]) == [])
        #expect(dropped([.ending] + Array(repeating: .hiding, count: many)) == [])
        #expect(dropped([.ending, .plain] + ending.dropFirst(2) + [.ending, .ending]) == [2])
    }

    @Test func `is one that ends nothing, also when there are many that do`() {
        let kinds = Array(repeating: Kind.ending, count: many) + [.plain, .ending]
        #expect(dropped(kinds) == [UInt64(many + 1)])
    }

    @Test func `is one that ends sight only if there is nothing else`() {
        let ending = Array(repeating: Kind.ending, count: many - 1)
        #expect(dropped([.ending, .hiding] + ending + [.ending]) == [3])
        #expect(dropped(Array(repeating: .hiding, count: many + 2)) == [2])
    }
}
