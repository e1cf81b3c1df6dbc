import Containers
import Testing

@Suite struct `A client's network` {
    @Test func `is an IPv4 address, also one that is mapped into IPv6`() {
        let plain = ClientNetwork(address: [192, 0, 2, 1])
        let mapped = ClientNetwork(
            address: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1])
        #expect(plain != nil && plain == mapped)
        #expect(plain != ClientNetwork(address: [192, 0, 2, 2]))
    }

    @Test func `is the first half of an IPv6 address`() {
        let prefix: [UInt8] = [0x20, 1, 0x0d, 0xb8, 0, 1, 0, 2]
        let first = ClientNetwork(address: prefix + [0, 0, 0, 0, 0, 0, 0, 1])
        let second = ClientNetwork(address: prefix + [9, 8, 7, 6, 5, 4, 3, 2])
        #expect(first != nil && first == second)
        let next: [UInt8] = [0x20, 1, 0x0d, 0xb8, 0, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1]
        #expect(first != ClientNetwork(address: next))
    }

    @Test func `has a bucket that depends on the seed`() throws {
        let networks = (0..<200).compactMap { ClientNetwork(address: [192, 0, 2, UInt8($0)]) }
        let first = networks.map { $0.bucket(of: 64, seed: 1) }
        #expect(first == networks.map { $0.bucket(of: 64, seed: 1) })
        #expect(first != networks.map { $0.bucket(of: 64, seed: 2) })
        #expect(Set(first).count > 48 && first.allSatisfy { (0..<64).contains($0) })
    }

    @Test(arguments: [0, 3, 5, 15, 17])
    func `is nothing of another length`(count: Int) {
        #expect(ClientNetwork(address: Array(repeating: 0, count: count)) == nil)
    }
}
