// Which addresses are others' on the Internet. A URL that a client has named must not lead to a
// machine that only this one can reach, whatever its host resolves to.

/// Decides on an address that a connection would be made to.
enum PublicAddress {
    /// Whether a host on the Internet may have this address, of 4 or 16 bytes.
    static func contains(_ address: [UInt8]) -> Bool {
        switch address.count {
        case 4: !reservedIPv4.contains { $0.has(address) }
        case 16:
            // NAT64 (RFC 6052) leads to the IPv4 address in its last bytes.
            nat64.has(address)
                ? contains(Array(address[12...]))
                // What is not global unicast is not public: loopback, link-local, unique local,
                // multicast, IPv4-mapped.
                : globalIPv6.has(address) && !reservedIPv6.contains { $0.has(address) }
        default: false
        }
    }

    /// Addresses with the same first bits.
    private struct Block {
        let first: [UInt8]
        let bitCount: Int

        init(_ first: [UInt8], _ bitCount: Int) {
            (self.first, self.bitCount) = (first, bitCount)
        }

        func has(_ address: [UInt8]) -> Bool {
            (0..<bitCount).allSatisfy { bit in
                let ofBlock = bit / 8 < first.count ? first[bit / 8] : 0
                return (address[bit / 8] ^ ofBlock) & (0x80 >> UInt8(bit % 8)) == 0
            }
        }
    }

    /// The special-purpose addresses (RFC 6890 and its registry), multicast and class E.
    private static let reservedIPv4 = [
        Block([0], 8), Block([10], 8), Block([100, 64], 10), Block([127], 8),
        Block([169, 254], 16),
        Block([172, 16], 12), Block([192, 0, 0], 24), Block([192, 0, 2], 24),
        Block([192, 88, 99], 24), Block([192, 168], 16), Block([198, 18], 15),
        Block([198, 51, 100], 24), Block([203, 0, 113], 24), Block([224], 3),
    ]

    private static let globalIPv6 = Block([0x20], 3)
    private static let nat64 = Block([0, 0x64, 0xFF, 0x9B], 96)

    /// Of the global unicast ones: protocol assignments with Teredo, documentation, and 6to4, which
    /// leads to the IPv4 address in it.
    private static let reservedIPv6 = [
        Block([0x20, 0x01, 0x00, 0x00], 23), Block([0x20, 0x01, 0x0D, 0xB8], 32),
        Block([0x20, 0x02], 16), Block([0x3F, 0xFF], 20),
    ]
}
