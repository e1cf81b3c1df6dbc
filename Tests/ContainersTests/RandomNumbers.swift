import Containers

extension SplitMix64 {
    /// A number below 2^`bitsMax`, every number of bits as likely as the others.
    mutating func number(bitsMax: Int) -> UInt64 {
        let bits = Int.random(in: 0...bitsMax, using: &self)
        return bits == 0 ? 0 : next() >> UInt64(64 - bits)
    }
}
