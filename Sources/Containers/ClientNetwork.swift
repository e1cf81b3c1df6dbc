/// The network that limits per address count as one address.
///
/// It is an IPv4 address, or the first 64 bits of an IPv6 address: a host usually has all addresses
/// of its /64 (RFC 6177, 2). An IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2) counts as the IPv4
/// address.
public struct ClientNetwork: Hashable, Sendable {
    /// 4 bytes of IPv4 or 8 of IPv6, in the order of the wire.
    public let bytes: [UInt8]

    /// The network of an address of 4 or 16 bytes, in the order of the wire; nil for any other
    /// number of bytes.
    public init?(address: [UInt8]) {
        switch address.count {
        case 4:
            bytes = address
        case 16:
            let isMapped =
                address[..<10].allSatisfy { $0 == 0 } && address[10] == 255 && address[11] == 255
            bytes = Array(isMapped ? address[12...] : address[..<8])
        default:
            return nil
        }
    }

    /// The network with these `bytes`; nil for another number of bytes than networks have.
    public init?(name: [UInt8]) {
        guard name.count == 4 || name.count == 8 else { return nil }
        bytes = name
    }

    /// One of `count` buckets, by a hash with a secret seed: a client cannot choose networks that
    /// share a bucket.
    public func bucket(of count: Int, seed: UInt64) -> Int {
        precondition(count > 0)
        return Int(SipHash13(key0: seed, key1: ~seed).hash(bytes.span) % UInt64(count))
    }
}
