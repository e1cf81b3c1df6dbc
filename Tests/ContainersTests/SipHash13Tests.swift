import Testing

@testable import Containers

@Suite struct SipHash13Tests {
    /// What CPython 3.11, whose `hash` is SipHash-1-3, gives under an all-zero key.
    @Test(arguments: [
        ("a", UInt64(0x4074_48d2_b89b_1813)),
        ("alice", 0x11af_1c34_7e79_d641),
        ("1234567", 0xa33d_6515_94fd_ae81),
        ("12345678", 0x3489_9824_3056_0a87),
        ("user-1234567", 0xe2ce_bcee_898d_f04c),
        ("0123456789abcdef", 0x1d42_b30f_7e06_0c24),
    ])
    func `known strings have known hashes`(text: String, expected: UInt64) {
        let bytes = Array(text.utf8)
        #expect(SipHash13(key0: 0, key1: 0).hash(bytes.span) == expected)
    }

    @Test func `a long string has its known hash`() {
        let bytes = Array(UInt8(0)..<255)
        #expect(SipHash13(key0: 0, key1: 0).hash(bytes.span) == 0x5dc1_f93e_a135_eb43)
    }

    /// The first vector of the reference implementation: key 00…0f, no input.
    @Test func `both halves of the key count`() {
        let empty: [UInt8] = []
        let hasher = SipHash13(key0: 0x0706_0504_0302_0100, key1: 0x0f0e_0d0c_0b0a_0908)
        #expect(hasher.hash(empty.span) == 0xabac_0158_050f_c4dc)
    }

    @Test func `seeds give unlike hashes`() {
        let bytes = Array("alice".utf8)
        let hashes = (UInt64(0)..<1_000).map { SipHash13(seed: $0).hash(bytes.span) }
        #expect(Set(hashes).count == 1_000)
    }
}
