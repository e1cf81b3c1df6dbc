import Containers
import Testing

@testable import Connections

@Suite struct `A queue of connections to write to` {
    @Test func `keeps their order, and counts them`() {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var queue = FlushQueue()
        var expected: [UInt32] = []
        var (queued, written) = (0, 0)
        for _ in 0..<20_000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                let slot = UInt32.random(in: 0...UInt32.max, using: &random)
                queue.append(slot)
                expected.append(slot)
                queued += 1
            case 5..<9:
                guard !expected.isEmpty else { continue }
                #expect(queue.takeFirst() == Int(expected.removeFirst()))
                written += 1
            default:
                queue.compact()
            }
            #expect(queue.count == expected.count && queue.isEmpty == expected.isEmpty)
            #expect(queue.progress == WriteProgress(queued: queued, written: written))
        }
        #expect(Array(queue.waiting) == expected)
    }
}
