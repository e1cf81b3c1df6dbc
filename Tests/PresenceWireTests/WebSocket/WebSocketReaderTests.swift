import Containers
import Testing

@testable import PresenceWire

/// A frame as a client sends it.
struct MaskedFrame {
    var opcode: UInt8 = 1
    var isFinal = true
    var payload: [UInt8] = []
    var mask: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]

    init(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) {
        (self.opcode, self.payload, self.isFinal) = (opcode, payload, isFinal)
    }

    init(_ opcode: UInt8, _ text: String, isFinal: Bool = true) {
        self.init(opcode, Array(text.utf8), isFinal: isFinal)
    }

    /// The shortest header that a length has.
    var bytes: [UInt8] {
        let length: [UInt8] =
            switch payload.count {
            case ...125: [UInt8(payload.count)]
            case ...0xFFFF: [126] + bigEndian(payload.count, 2)
            default: [127] + bigEndian(payload.count, 8)
            }
        let masked = payload.enumerated().map { $1 ^ mask[$0 % 4] }
        return [(isFinal ? 0x80 : 0) | opcode, 0x80 | length[0]] + length[1...] + mask + masked
    }
}

private func bigEndian(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
}

/// What an owner sees of a WebSocket's bytes.
enum SeenMessage: Equatable {
    case keepAlive
    case text(String)
    case binary([UInt8])
    case ping([UInt8])
    case pong
    case close(Int?)
    case violation(WebSocketCloseCode)
}

/// Feeds chunks to a reader as the owner of a connection does.
struct WebSocketFeeder {
    var reader = WebSocketReader()
    var seen: [SeenMessage] = []
    var bodyBytesMax = 1_000
    var body: [UInt8] = []
    private var isOver = false

    /// Takes at most `countMax` messages, then keeps the rest of the chunk.
    mutating func feed(_ chunk: [UInt8], countMax: Int = .max) {
        var offset = 0
        var count = 0
        while !isOver {
            if count == countMax {
                reader.keep(chunk.span.bytes, from: &offset)
                return
            }
            count += 1
            let outcome = reader.next(
                in: chunk.span.bytes, from: &offset, bodyBytesMax: bodyBytesMax, body: &body)
            switch outcome {
            case .needMore:
                #expect(offset == chunk.count)
                return
            case .keepAlive: seen.append(.keepAlive)
            case .text: seen.append(.text(String(decoding: body, as: UTF8.self)))
            case .binary: seen.append(.binary(body))
            case .ping: seen.append(.ping(body))
            case .pong: seen.append(.pong)
            case .close(let code):
                seen.append(.close(code))
                isOver = true
            case .violation(let code):
                seen.append(.violation(code))
                isOver = true
            }
        }
    }
}

/// What is seen of bytes, whole; and the same byte by byte.
private func seen(
    _ bytes: [UInt8], _ settings: (inout WebSocketFeeder) -> Void = { _ in }
) -> [SeenMessage] {
    var whole = WebSocketFeeder()
    settings(&whole)
    whole.feed(bytes)
    var single = WebSocketFeeder()
    settings(&single)
    for byte in bytes { single.feed([byte]) }
    #expect(whole.seen == single.seen)
    return whole.seen
}

@Suite struct `A WebSocket's reader` {
    /// RFC 6455, 5.7.
    @Test func `reads the examples of the RFC`() {
        let hello: [UInt8] = [
            0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
        ]
        #expect(seen(hello) == [.text("Hello")])
        #expect(MaskedFrame(1, "Hello").bytes == hello)
        let ping: [UInt8] = [0x89, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]
        #expect(seen(ping) == [.ping(Array("Hello".utf8))])
        #expect(seen([0x8a] + hello.dropFirst()) == [.pong])
        let fragments = MaskedFrame(1, "Hel", isFinal: false).bytes + MaskedFrame(0, "lo").bytes
        #expect(seen(fragments) == [.text("Hello")])
        // What a server sends is not masked, and a client must not.
        #expect(seen([0x81, 0x05] + "Hello".utf8) == [.violation(.protocolError)])
    }

    @Test func `reads all lengths, with every mask`() {
        for count in [0, 1, 7, 8, 9, 124, 125, 126, 127, 1_000, 65_535, 65_536, 70_001] {
            for mask in [[0, 0, 0, 0], [1, 2, 3, 4], [255, 0, 255, 0]] as [[UInt8]] {
                let text = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
                var frame = MaskedFrame(1, text)
                frame.mask = mask
                var feeder = WebSocketFeeder()
                feeder.bodyBytesMax = count
                feeder.feed(frame.bytes)
                let expected =
                    count == 0
                    ? SeenMessage.keepAlive : .text(String(decoding: text, as: UTF8.self))
                #expect(feeder.seen == [expected])
                #expect(feeder.reader.bytesAllocated == 0)
            }
        }
    }

    @Test(
        arguments: [
            // Reserved bits, reserved opcodes, no mask.
            [0xC1, 0x80], [0xA1, 0x80], [0x91, 0x80], [0x83, 0x80], [0x87, 0x80], [0x8B, 0x80],
            [0x8F, 0x80], [0x81, 0x00], [0x89, 0x00], [0x88, 0x00],
            // Control frames that are fragments or too long.
            [0x09, 0x80], [0x08, 0x80], [0x0A, 0x80], [0x89, 0xFE], [0x88, 0xFF], [0x8A, 0xFE],
            // Lengths that are not in their shortest form, or have the highest bit.
            [0x81, 0xFE, 0, 125, 0, 0, 0, 0], [0x81, 0xFE, 0, 0, 0, 0, 0, 0],
            [0x81, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0],
            [0x81, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            // A continuation of nothing.
            [0x80, 0x80, 0, 0, 0, 0], [0x00, 0x80, 0, 0, 0, 0],
            // A close with half a code.
            [0x88, 0x81, 0, 0, 0, 0, 3],
        ] as [[UInt8]])
    func `rejects what the RFC forbids`(bytes: [UInt8]) {
        #expect(seen(bytes) == [.violation(.protocolError)])
        // The end is the same behind a message.
        let hello = MaskedFrame(1, "Hello").bytes
        #expect(seen(hello + bytes + hello) == [.text("Hello"), .violation(.protocolError)])
    }

    @Test func `rejects a message in the midst of another`() {
        let first = MaskedFrame(1, "Hel", isFinal: false).bytes
        #expect(seen(first + MaskedFrame(1, "lo").bytes) == [.violation(.protocolError)])
        #expect(
            seen(first + MaskedFrame(1, "lo", isFinal: false).bytes)
                == [.violation(.protocolError)])
    }

    @Test func `rejects binary messages, unless it is told otherwise`() {
        let frame = MaskedFrame(2, [1, 2, 255]).bytes
        #expect(seen(frame) == [.violation(.unsupportedData)])
        #expect(seen(frame) { $0.reader.acceptsBinary = true } == [.binary([1, 2, 255])])
        let fragments = MaskedFrame(2, [255], isFinal: false).bytes + MaskedFrame(0, [254]).bytes
        #expect(seen(fragments) { $0.reader.acceptsBinary = true } == [.binary([255, 254])])
    }

    @Test func `takes control frames between fragments`() {
        let bytes =
            MaskedFrame(1, "a", isFinal: false).bytes + MaskedFrame(9, "p").bytes
            + MaskedFrame(0, "b", isFinal: false).bytes + MaskedFrame(10, "q").bytes
            + MaskedFrame(0, "c").bytes + MaskedFrame(8, [3, 232]).bytes
        #expect(
            seen(bytes) == [.ping(Array("p".utf8)), .pong, .text("abc"), .close(1_000)])
        let closed = MaskedFrame(1, "a", isFinal: false).bytes + MaskedFrame(8, []).bytes
        #expect(seen(closed) == [.close(nil)])
    }

    @Test func `has a limit for frames and for all fragments of a message`() {
        let full = MaskedFrame(1, [UInt8](repeating: 97, count: 100)).bytes
        #expect(seen(full) { $0.bodyBytesMax = 100 }.count == 1)
        // By the header alone.
        let header = Array(full.prefix(6))
        #expect(seen(header) { $0.bodyBytesMax = 99 } == [.violation(.tooBig)])
        let claims = [0x81, 0xFF] + bigEndian(Int.max, 8) + [0, 0, 0, 0]
        #expect(seen(claims) == [.violation(.tooBig)])
        let part = [UInt8](repeating: 97, count: 40)
        let first = MaskedFrame(1, part, isFinal: false).bytes
        let next = MaskedFrame(0, part, isFinal: false).bytes
        let last = MaskedFrame(0, part).bytes
        #expect(seen(first + next + last) { $0.bodyBytesMax = 120 }.count == 1)
        #expect(
            seen(first + next + last.prefix(6)) { $0.bodyBytesMax = 119 }
                == [.violation(.tooBig)])
        // Empty fragments at the limit.
        let empty = MaskedFrame(0, []).bytes
        #expect(seen(first + empty) { $0.bodyBytesMax = 40 }.count == 1)
        // A ping is not part of the message.
        let ping = MaskedFrame(9, part).bytes
        #expect(seen(first + ping + empty) { $0.bodyBytesMax = 40 }.count == 2)
    }

    @Test func `has a limit for the number of fragments`() {
        func message(_ count: Int) -> [UInt8] {
            MaskedFrame(1, "a", isFinal: false).bytes
                + (2..<count).flatMap { _ in MaskedFrame(0, [], isFinal: false).bytes }
                + MaskedFrame(0, "z").bytes
        }
        #expect(seen(message(64)) == [.text("az")])
        #expect(seen(message(65)) == [.violation(.policyViolation)])
        #expect(seen(message(65)) { $0.reader.fragmentsMax = 65 } == [.text("az")])
        #expect(seen(message(64) + message(64)) == [.text("az"), .text("az")])
    }

    @Test func `reads an empty message as a keep-alive, also in fragments`() {
        let whole = MaskedFrame(1, []).bytes
        let fragments = MaskedFrame(1, [], isFinal: false).bytes + MaskedFrame(0, []).bytes
        #expect(seen(whole + fragments) == [.keepAlive, .keepAlive])
    }

    @Test(
        arguments: [
            [0xC3], [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80],
            [0xE2, 0x82],
        ] as [[UInt8]])
    func `rejects text that is not UTF-8`(text: [UInt8]) {
        #expect(seen(MaskedFrame(1, text).bytes) == [.violation(.invalidText)])
        let fragments = MaskedFrame(1, text, isFinal: false).bytes + MaskedFrame(0, []).bytes
        #expect(seen(fragments) == [.violation(.invalidText)])
        #expect(
            seen(MaskedFrame(8, [3, 232] + text).bytes) == [.violation(.invalidText)])
    }

    @Test func `reads UTF-8 that is cut within a character`() {
        let text = "κόσμε 🏡"
        let bytes = Array(text.utf8)
        for place in 1..<bytes.count {
            let fragments =
                MaskedFrame(1, Array(bytes[..<place]), isFinal: false).bytes
                + MaskedFrame(0, Array(bytes[place...])).bytes
            #expect(seen(fragments) == [.text(text)])
        }
    }

    @Test func `knows the codes that a peer may close with`() {
        let valid = Array(1_000...1_003) + Array(1_007...1_014) + Array(3_000...4_999)
        for code in [0, 999, 1_004, 1_005, 1_006, 1_015, 1_016, 2_999, 5_000, 65_535] + valid {
            let frame = MaskedFrame(8, bigEndian(code, 2) + "bye".utf8)
            let expected =
                valid.contains(code) ? SeenMessage.close(code) : .violation(.protocolError)
            var feeder = WebSocketFeeder()
            feeder.feed(frame.bytes)
            #expect(feeder.seen == [expected], "\(code)")
        }
        #expect(seen(MaskedFrame(8, []).bytes) == [.close(nil)])
    }

    @Test func `keeps only what has arrived, and nothing when it is idle`() {
        var feeder = WebSocketFeeder()
        feeder.bodyBytesMax = 65_536
        feeder.feed(Array(MaskedFrame(1, [UInt8](repeating: 97, count: 60_000)).bytes.prefix(20)))
        #expect(feeder.reader.bytesBuffered == 20 && feeder.reader.bytesAllocated <= 64)
        var other = WebSocketFeeder()
        for byte in MaskedFrame(1, "abc", isFinal: false).bytes + MaskedFrame(0, "d").bytes {
            other.feed([byte])
        }
        other.feed([])
        #expect(other.seen == [.text("abcd")])
        #expect(other.reader.bytesBuffered == 0 && other.reader.bytesAllocated == 0)
        #expect(!other.reader.isInMessage)
    }
}

@Suite struct `A WebSocket's bytes` {
    /// A stream of valid and invalid frames.
    private func stream(_ random: inout SplitMix64) -> [UInt8] {
        var bytes: [UInt8] = []
        var isInMessage = false
        for _ in 0..<Int.random(in: 1...12, using: &random) {
            let count = [0, 1, 3, 20, 125].randomElement(using: &random) ?? 0
            var payload = (0..<count).map { _ in UInt8.random(in: 32...126, using: &random) }
            switch Int.random(in: 0..<20, using: &random) {
            case 0: bytes += MaskedFrame(8, payload).bytes
            case 1: bytes += (0..<3).map { _ in UInt8.random(in: 0...255, using: &random) }
            case 2, 3, 4: bytes += MaskedFrame(9, payload).bytes
            case 5: bytes += MaskedFrame(10, payload).bytes
            default:
                if Int.random(in: 0..<20, using: &random) == 0 { payload.append(0xC3) }
                let isFinal = Bool.random(using: &random)
                bytes += MaskedFrame(isInMessage ? 0 : 1, payload, isFinal: isFinal).bytes
                isInMessage = !isFinal
            }
        }
        return bytes
    }

    @Test func `are read the same however they are cut and wherever the owner pauses`() {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<3_000 {
            let bytes = stream(&random)
            var whole = WebSocketFeeder()
            whole.bodyBytesMax = 300
            whole.feed(bytes)
            var pieces = WebSocketFeeder()
            pieces.bodyBytesMax = 300
            var start = 0
            while start < bytes.count {
                let count = Int.random(in: 1...min(40, bytes.count - start), using: &random)
                let countMax = Bool.random(using: &random) ? Int.max : 1
                pieces.feed(Array(bytes[start..<start + count]), countMax: countMax)
                start += count
            }
            pieces.feed([])
            #expect(whole.seen == pieces.seen)
        }
    }
}
