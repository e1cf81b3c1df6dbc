import Containers
import PresenceWire
import Testing

@Suite struct `A framing` {
    @Test(
        arguments: [
            (1, [0, 0, 0, 1]), (255, [0, 0, 0, 255]), (256, [0, 0, 1, 0]), (65_536, [0, 1, 0, 0]),
            (1 << 24, [1, 0, 0, 0]),
        ] as [(Int, [UInt8])])
    func `puts the length before a body`(count: Int, header: [UInt8]) {
        let body = [UInt8](repeating: 7, count: count)
        var bytes: [UInt8] = [9]
        Framing.native.append(to: &bytes) { $0 += body }
        #expect(bytes == [9] + header + body)
    }

    /// RFC 6455, 5.2: the shortest form of the length, and no mask.
    @Test(
        arguments: [
            (1, [0x81, 1]), (125, [0x81, 125]), (126, [0x81, 126, 0, 126]),
            (65_535, [0x81, 126, 255, 255]), (65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
            (1 << 24, [0x81, 127, 0, 0, 0, 0, 1, 0, 0, 0]),
        ] as [(Int, [UInt8])])
    func `makes a text message of a body`(count: Int, header: [UInt8]) {
        let body = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        var bytes: [UInt8] = [9]
        Framing.webSocket.append(to: &bytes) { $0 += body }
        #expect(bytes == [9] + header + body)
    }

    @Test func `has what a protocol says for itself`() {
        var all: [UInt8] = []
        for framing in Framing.allCases {
            var bytes: [UInt8] = []
            framing.appendPing(to: &bytes)
            framing.appendPong([1, 2], to: &bytes)
            framing.appendEnd(code: 4_402, "token_expired", to: &bytes)
            framing.appendEnd(code: nil, "", to: &bytes)
            #expect((framing == .webSocket) == !bytes.isEmpty)
            all += bytes
        }
        let end = [0x88, 15, 0x11, 0x32] + "token_expired".utf8
        #expect(all == [0x89, 0, 0x8A, 2, 1, 2] + end + [0x88, 0])
    }

    @Test func `returns what the encoder returns`() {
        var bytes: [UInt8] = []
        let sum = Framing.native.append(to: &bytes) { body in
            body.append(1)
            return 42
        }
        #expect(sum == 42)
    }

    @Test(arguments: Framing.allCases)
    func `makes no frame without a body`(framing: Framing) {
        var bytes: [UInt8] = [1, 2]
        framing.append(to: &bytes) { _ in }
        #expect(bytes == [1, 2])
        // An encoder may find that what it has appended does not fit.
        framing.append(to: &bytes) { body in
            body += [3, 4, 5]
            body.removeLast(3)
        }
        #expect(bytes == [1, 2])
    }

    @Test func `has keep-alives, which are bodies of length zero`() {
        var bytes: [UInt8] = [1]
        Framing.native.appendKeepAlive(to: &bytes)
        #expect(bytes == [1, 0, 0, 0, 0])
        Framing.webSocket.appendKeepAlive(to: &bytes)
        #expect(bytes == [1, 0, 0, 0, 0, 0x81, 0])
    }

    @Test func `stops an encoder that removes what others have appended`() async {
        await #expect(processExitsWith: .failure) {
            var bytes: [UInt8] = [1, 2]
            Framing.native.append(to: &bytes) { $0.removeAll() }
        }
    }

    @Test(arguments: Framing.allCases)
    func `adds no more to a body than it says`(framing: Framing) {
        for count in [1, 125, 126, 65_535, 65_536] {
            var bytes: [UInt8] = []
            framing.append(to: &bytes) { $0 += repeatElement(7, count: count) }
            #expect(bytes.count - count <= framing.headerBytesMax)
        }
    }

    private enum Message: Equatable {
        case keepAlive
        case body([UInt8])
    }

    @Test func `is read back by the splitter, in chunks of any size`() {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<100 {
            var sent: [Message] = []
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                let count = Int.random(in: 0...400, using: &random)
                let body = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                if body.isEmpty {
                    Framing.native.appendKeepAlive(to: &bytes)
                    sent.append(.keepAlive)
                } else {
                    Framing.native.append(to: &bytes) { $0 += body }
                    sent.append(.body(body))
                }
            }
            #expect(read(bytes, &random) == sent)
        }
    }

    private func read(_ bytes: [UInt8], _ random: inout SplitMix64) -> [Message] {
        var splitter = FrameSplitter()
        var read: [Message] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let chunk = Array(rest.prefix(Int.random(in: 1...500, using: &random)))
            rest = rest.dropFirst(chunk.count)
            var offset = 0
            reading: while true {
                let outcome = splitter.next(
                    in: chunk.span.bytes, from: &offset, bodyBytesMax: 1_000)
                switch outcome {
                case .needMore: break reading
                case .keepAlive: read.append(.keepAlive)
                case .violation: return []
                case .frame(let place):
                    read.append(
                        .body(
                            splitter.withBody(place, in: chunk.span.bytes) { body in
                                unsafe body.withUnsafeBytes { unsafe Array($0) }
                            }))
                }
            }
        }
        #expect(splitter.bytesBuffered == 0)
        return read
    }
}
