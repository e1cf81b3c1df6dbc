import Testing

@testable import TLSSessions

extension ClientHelloReader {
    /// Reads an array that is alive meanwhile, also where a macro wraps the call.
    fileprivate mutating func read(_ bytes: [UInt8]) -> Outcome { receive(bytes.span.bytes) }
}

@Suite struct `A ClientHello reader` {
    /// What a client sends first: one record.
    private func hello() throws -> [UInt8] {
        let pair = try Setting().pair()
        pair.client.begin()
        return pair.client.takeOutgoing()
    }

    /// The same message in records of `count` bytes.
    private func fragments(_ hello: [UInt8], of count: Int) -> [UInt8] {
        var rest = hello.dropFirst(5)
        var all: [UInt8] = []
        while !rest.isEmpty {
            let part = rest.prefix(count)
            all += [22, 3, 1, UInt8(part.count >> 8), UInt8(part.count & 255)] + part
            rest = rest.dropFirst(count)
        }
        return all
    }

    private func read(_ bytes: [UInt8]) -> ClientHelloReader.Outcome {
        var reader = ClientHelloReader()
        return reader.read(bytes)
    }

    @Test(arguments: [1, 2, 3, 7, 100, 4_096])
    func `finds the end of a hello, in records of any size`(count: Int) throws {
        let bytes = try fragments(hello(), of: count)
        #expect(read(bytes) == .complete)
        #expect(read(bytes.dropLast()) == .needMore)
        var reader = ClientHelloReader()
        for byte in bytes.dropLast() { #expect(reader.read([byte]) == .needMore) }
        #expect(reader.read([bytes[bytes.count - 1]]) == .complete)
        #expect(reader.bytes == bytes)
    }

    @Test(arguments: [1, 3, 100])
    func `finds what OpenSSL then reads`(count: Int) throws {
        let pair = try Setting().pair()
        pair.client.begin()
        pair.server.receive(fragments(pair.client.takeOutgoing(), of: count))
        pair.exchange()
        #expect(pair.isOpen)
    }

    @Test func `keeps what arrives after the hello`() throws {
        var reader = ClientHelloReader()
        let bytes = try hello() + [20, 3, 3, 0, 1, 1]
        #expect(reader.read(bytes) == .complete)
        #expect(reader.read([1, 2]) == .complete)
        #expect(reader.bytes == bytes + [1, 2])
    }

    @Test(arguments: [
        Array("GET / HTTP/1.1\r\n".utf8), [0, 0, 0, 40], [0x80, 0x2E, 1, 3, 1], [21, 3, 1, 0, 2],
        [23], [22, 2], [22, 4],
    ])
    func `rejects what is not TLS by its first bytes`(bytes: [UInt8]) {
        #expect(read(bytes) == .rejected(.notTLS))
    }

    @Test(arguments: [
        // An empty record, a record above 16 KiB, another message, another type in the middle.
        [22, 3, 1, 0, 0], [22, 3, 1, 0x40, 1], [22, 3, 1, 0, 4, 2],
        [22, 3, 1, 0, 2, 1, 0, 23], [22, 3, 1, 0, 2, 1, 0, 22, 4],
    ])
    func `rejects what is malformed`(bytes: [UInt8]) {
        #expect(read(bytes) == .rejected(.malformed))
    }

    @Test func `rejects a length above the limit at once, and too many bytes`() {
        #expect(read([22, 3, 1, 0, 4, 1, 0, 0x40, 0]) == .rejected(.helloTooLong))
        #expect(read([22, 3, 1, 0, 4, 1, 0, 0x3F, 0xFC]) == .needMore)
        // One byte of the message in each record: the headers count, too.
        let filler = [UInt8](Array(repeating: [22, 3, 1, 0, 1, 0], count: 2_730).joined())
        let start: [UInt8] = [22, 3, 1, 0, 4, 1, 0, 0x3F, 0xFC]
        let most = ClientHelloReader.bytesMax - start.count
        #expect(read(start + filler.prefix(most)) == .needMore)
        #expect(read(start + filler.prefix(most + 1)) == .rejected(.helloTooLong))
    }

    @Test func `keeps nothing after it has rejected`() {
        var reader = ClientHelloReader()
        #expect(reader.read([22, 3, 1, 0, 0]) == .rejected(.malformed))
        #expect(reader.read([22, 3, 1, 0, 4, 1]) == .rejected(.malformed))
        #expect(reader.bytes.isEmpty)
    }
}
