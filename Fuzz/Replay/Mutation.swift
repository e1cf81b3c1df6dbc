import Containers

/// Changes an input by chance, as libFuzzer does, but without looking at branches.
struct Mutation {
    /// Inputs of the same target, parts of which are copied into this one.
    let others: [[UInt8]]
    var random: SplitMix64

    /// The bytes with one to four changes; at most `bytesMax` long.
    mutating func applied(to bytes: [UInt8], bytesMax: Int = 4_096) -> [UInt8] {
        var bytes = bytes
        for _ in 0...random.below(4) { change(&bytes) }
        return Array(bytes.prefix(bytesMax))
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let place = random.below(bytes.count + 1)
        let length = random.below(min(16, bytes.count - place) + 1)
        switch random.below(7) {
        case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(random.below(8))
        case 1 where place < bytes.count: bytes[place] = UInt8(random.below(256))
        case 2: bytes.removeSubrange(place..<place + length)
        case 3: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
        case 4: bytes.insert(UInt8(random.below(256)), at: place)
        case 5: bytes.removeSubrange(place...)
        default: splice(into: &bytes, at: place)
        }
    }

    /// Continues with a part of another input.
    private mutating func splice(into bytes: inout [UInt8], at place: Int) {
        guard !others.isEmpty else { return }
        let other = others[random.below(others.count)]
        bytes.replaceSubrange(place..., with: other.dropFirst(random.below(other.count + 1)))
    }
}

extension RandomNumberGenerator {
    /// A number from 0 to below `count`, which is at least 1.
    fileprivate mutating func below(_ count: Int) -> Int {
        Int.random(in: 0..<count, using: &self)
    }
}
