import Testing

@testable import Containers

@Suite struct `An array in chunks` {
    @Test func `has its elements in order, and changes them in place`() {
        var array = ChunkedArray<Int>()
        for number in 0..<5_000 { array.append(number) }
        #expect(array.count == 5_000)
        #expect(array.elementsEqual(0..<5_000))
        for index in array.indices { array[index] += 1 }
        #expect(array.elementsEqual(1...5_000))
        for number in (1...5_000).reversed() { #expect(array.popLast() == number) }
        #expect(array.popLast() == nil)
        #expect(array.isEmpty)
        array.append(7)
        #expect(Array(array) == [7])
    }

    @Test func `is appended to and shortened around the end of a chunk`() {
        var array = ChunkedArray<Int>()
        var model: [Int] = []
        var random = SplitMix64(seed: 1)
        for _ in 0..<1_020 {
            array.append(1)
            model.append(1)
        }
        for number in 0..<10_000 {
            if Bool.random(using: &random) {
                array.append(number)
                model.append(number)
            } else {
                #expect(array.popLast() == model.popLast())
            }
        }
        #expect(Array(array) == model)
    }

    /// The largest number of elements that an `append` has moved, which is seen by the capacities.
    @Test func `moves no more than a chunk, however long it becomes`() {
        var array = ChunkedArray<UInt64>()
        var largest = 0
        for number in 0..<3_000_000 as Range<UInt64> {
            let chunk = array.count >> ChunkedArray<UInt64>.chunkBits
            let before = chunk < array.chunks.count ? array.chunks[chunk].capacity : 0
            let present = chunk < array.chunks.count ? array.chunks[chunk].count : 0
            array.append(number)
            if array.chunks[chunk].capacity != before { largest = max(largest, present) }
        }
        #expect(largest < ChunkedArray<UInt64>.chunkCount)
        #expect(array.chunks.count == 3_000_000 / 1_024 + 1)
    }
}

@Suite struct `A dictionary in parts` {
    @Test func `agrees with one that is whole`() {
        var parted = PartedDictionary<UInt32, Int>()
        var model: [UInt32: Int] = [:]
        var random = SplitMix64(seed: 2)
        for step in 0..<50_000 {
            let key = UInt32.random(in: 0..<3_000, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0:
                #expect(parted.removeValue(forKey: key) == model.removeValue(forKey: key))
            case 1:
                #expect(
                    parted.updateValue(step, forKey: key) == model.updateValue(step, forKey: key))
            case 2:
                parted[key] = nil
                model[key] = nil
            case 3:
                parted[key, default: 7] += step
                model[key, default: 7] += step
            default:
                parted[key]? -= 1
                model[key]? -= 1
            }
            #expect(parted[key] == model[key])
            #expect(parted.count == model.count && parted.isEmpty == model.isEmpty)
        }
        #expect(Set(parted.keys) == Set(model.keys))
        #expect(parted.values.sorted() == model.values.sorted())
        for (key, value) in parted.entries { #expect(model[key] == value) }
    }

    @Test func `hashes a small part of a million entries again at a time`() {
        var parted = PartedDictionary<UInt64, UInt32>()
        // Handles of accounts with a type below, as the engine has them.
        for number in 0..<1_000_000 as Range<UInt64> { parted[number << 16 | 1] = 1 }
        #expect(parted.count == 1_000_000)
        #expect(parted.largestPartCount < 1_500)
        var handles = PartedDictionary<UInt32, UInt32>()
        for number in 0..<1_000_000 as Range<UInt32> { handles[number] = number }
        #expect(handles.largestPartCount < 1_500)
    }
}
