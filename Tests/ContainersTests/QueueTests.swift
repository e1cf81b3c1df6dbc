import Testing

@testable import Containers

@Suite struct `A queue` {
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `is as an array that is emptied from the front`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = Queue<Int>()
        var model: [Int] = []
        for number in 0..<2_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                queue.append(number)
                model.append(number)
            case 5:
                let found = model.firstIndex { $0 % 3 == 0 }.map { model.remove(at: $0) }
                #expect(queue.removeFirst { $0 % 3 == 0 } == found)
            default:
                #expect(queue.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            }
            #expect(Array(queue.waiting) == model && queue.first == model.first, "seed \(seed)")
            #expect(queue.isEmpty == model.isEmpty)
        }
    }

    @Test func `gives up what was taken`() {
        var queue = Queue(Array(0..<100))
        while let number = queue.popFirst() {
            #expect(queue.elements.count <= 2 * (99 - number) + 1)
        }
        #expect(queue.elements.isEmpty)
    }

    @Test func `keeps nothing of what was taken when none waits`() {
        var queue = Queue(Array(0..<100))
        for _ in 0..<50 { _ = queue.popFirst() }
        while queue.removeFirst(where: { $0 >= 50 }) != nil {}
        #expect(queue.isEmpty && queue.elements.isEmpty && queue.elements.capacity == 0)
    }
}
