/// SipHash-1-3 of short byte strings under a secret key (Aumasson, Bernstein 2012).
///
/// Names are chosen by clients. Under a hash without a secret they can be chosen to collide, and
/// each look-up then walks through all of them. One compression and three finalisation rounds
/// is what Rust, CPython and Swift's own `Hasher` chose for tables. `Hasher` is not used because it
/// takes no seed, and a run must be replayable from one.
struct SipHash13: Sendable {
    private let key0: UInt64
    private let key1: UInt64

    init(key0: UInt64, key1: UInt64) {
        self.key0 = key0
        self.key1 = key1
    }

    func hash(_ bytes: borrowing Span<UInt8>) -> UInt64 {
        var state = State(key0: key0, key1: key1)
        let count = bytes.count
        var offset = 0
        while count - offset >= 8 {
            state.absorb(bytes.word(at: offset))
            offset += 8
        }
        let rest = bytes.lastWord(from: offset)
        state.absorb(rest | UInt64(truncatingIfNeeded: count) << 56)
        return state.finished()
    }

    private struct State {
        var v0: UInt64
        var v1: UInt64
        var v2: UInt64
        var v3: UInt64

        init(key0: UInt64, key1: UInt64) {
            v0 = key0 ^ 0x736f_6d65_7073_6575
            v1 = key1 ^ 0x646f_7261_6e64_6f6d
            v2 = key0 ^ 0x6c79_6765_6e65_7261
            v3 = key1 ^ 0x7465_6462_7974_6573
        }

        @inline(__always)
        mutating func absorb(_ word: UInt64) {
            v3 ^= word
            round()
            v0 ^= word
        }

        @inline(__always)
        mutating func finished() -> UInt64 {
            v2 ^= 0xff
            round()
            round()
            round()
            return v0 ^ v1 ^ v2 ^ v3
        }

        @inline(__always)
        private mutating func round() {
            v0 &+= v1
            v1 = (v1 &<< 13 | v1 &>> 51) ^ v0
            v0 = v0 &<< 32 | v0 &>> 32
            v2 &+= v3
            v3 = (v3 &<< 16 | v3 &>> 48) ^ v2
            v0 &+= v3
            v3 = (v3 &<< 21 | v3 &>> 43) ^ v0
            v2 &+= v1
            v1 = (v1 &<< 17 | v1 &>> 47) ^ v2
            v2 = v2 &<< 32 | v2 &>> 32
        }
    }
}
