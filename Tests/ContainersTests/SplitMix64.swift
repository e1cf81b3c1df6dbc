/// A small seeded generator, so that a failure is repeated by the seed in its message.
///
/// SplitMix64 (Steele, Lea, Flood 2014): one addition and two multiplications a number.
struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number below 2^`bitsMax`, every number of bits as likely as the others.
    mutating func number(bitsMax: Int) -> UInt64 {
        let bits = Int.random(in: 0...bitsMax, using: &self)
        return bits == 0 ? 0 : next() >> UInt64(64 - bits)
    }
}
