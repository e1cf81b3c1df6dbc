import Containers
import Testing

@Suite struct `The end of a beginning` {
    @Test(arguments: 0..<20)
    func `is where the first stands that does not belong to it`(count: Int) {
        let list = Array(0..<count)
        for length in 0...count {
            var asked = 0
            let place = list.partitionPoint {
                asked += 1
                return $0 < length
            }
            #expect(place == length)
            #expect(1 << asked <= 2 * max(1, count), "more often than the logarithm")
        }
    }

    @Test func `is the first of those that are equal`() {
        let list = [1, 3, 3, 3, 5]
        #expect(list.partitionPoint { $0 < 3 } == 1)
        #expect(list.partitionPoint { $0 <= 3 } == 4)
    }

    @Test func `is a place of the collection, wherever that begins`() {
        #expect((100..<200).partitionPoint { $0 < 150 } == 150)
        #expect(["a", "b", "c", "d"][1..<3].partitionPoint { $0 < "c" } == 2)
        #expect([Int]()[0..<0].partitionPoint { _ in true } == 0)
    }
}
