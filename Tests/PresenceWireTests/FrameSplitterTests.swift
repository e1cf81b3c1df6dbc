import Containers
import PresenceWire
import Testing

/// What an owner sees of a connection's bytes.
private enum Seen: Hashable {
    case keepAlive
    case body([UInt8])
    case violation(Int)
}

/// Feeds chunks to a splitter as the owner of a connection does.
private struct Feeder {
    var splitter = FrameSplitter()
    var seen: [Seen] = []
    var bodyBytesMax = 100

    /// Takes at most `framesMax` frames, then keeps the rest of the chunk.
    mutating func feed(_ chunk: [UInt8], framesMax: Int = .max) {
        var offset = 0
        var frames = 0
        while true {
            if frames == framesMax {
                splitter.keep(chunk.span.bytes, from: &offset)
                return
            }
            frames += 1
            let outcome = splitter.next(
                in: chunk.span.bytes, from: &offset, bodyBytesMax: bodyBytesMax)
            switch outcome {
            case .needMore:
                #expect(offset == chunk.count)
                return
            case .keepAlive: seen.append(.keepAlive)
            case .frame(let body):
                let bytes = splitter.withBody(body, in: chunk.span.bytes) { body in
                    body.withUnsafeBytes { [UInt8]($0) }
                }
                seen.append(.body(bytes))
            case .violation(let claimed):
                seen.append(.violation(claimed))
                return
            }
        }
    }
}

private func framed(_ body: [UInt8]) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (24 - 8 * $0)) } + body
}

@Suite struct FrameSplitterTests {
    @Test func `a whole frame is read where it lies`() {
        var splitter = FrameSplitter()
        var offset = 0
        let chunk = framed([1, 2, 3])
        let outcome = splitter.next(in: chunk.span.bytes, from: &offset, bodyBytesMax: 3)
        guard case .frame(let body) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(body.count == 3)
        #expect(offset == 7)
        #expect(splitter.bytesAllocated == 0)
    }

    @Test func `length zero is a keep-alive`() {
        var feeder = Feeder()
        feeder.feed([0, 0, 0, 0, 0, 0, 0, 0])
        #expect(feeder.seen == [.keepAlive, .keepAlive])
        #expect(feeder.splitter.bytesBuffered == 0)
    }

    @Test(
        arguments: [
            (100, [0, 0, 0, 100]), (101, [0, 0, 0, 101]), (0x8000_0000, [0x80, 0, 0, 0]),
            (0xFFFF_FFFF, [0xFF, 0xFF, 0xFF, 0xFF]),
        ] as [(Int, [UInt8])])
    func `the limit is judged before any byte of the body`(claimed: Int, head: [UInt8]) {
        for split in 0...4 {
            var feeder = Feeder()
            feeder.feed(Array(head[..<split]))
            feeder.feed(Array(head[split...]))
            #expect(feeder.seen == (claimed > 100 ? [.violation(claimed)] : []))
            #expect(feeder.splitter.bytesAllocated <= 64)
        }
    }

    @Test func `a body of exactly the limit is a frame`() {
        var feeder = Feeder()
        let body = [UInt8](repeating: 7, count: 100)
        feeder.feed(framed(body))
        #expect(feeder.seen == [.body(body)])
    }

    @Test func `the limit may change between frames`() {
        var feeder = Feeder()
        feeder.bodyBytesMax = 2
        feeder.feed(framed([1, 2]))
        feeder.bodyBytesMax = 3
        feeder.feed(framed([1, 2, 3]))
        feeder.bodyBytesMax = 2
        feeder.feed(framed([1, 2, 3]))
        #expect(feeder.seen == [.body([1, 2]), .body([1, 2, 3]), .violation(3)])
    }

    @Test func `only bytes that came are counted and kept`() {
        var feeder = Feeder()
        feeder.bodyBytesMax = 65_536
        feeder.feed([0, 1, 0, 0, 9, 9])
        #expect(feeder.splitter.bytesBuffered == 6)
        #expect(feeder.splitter.bytesAllocated <= 64)
        #expect(feeder.seen.isEmpty)
    }

    @Test func `nothing is held when nothing is left over`() {
        var feeder = Feeder()
        let frame = framed([1, 2, 3])
        for byte in frame { feeder.feed([byte]) }
        #expect(feeder.seen == [.body([1, 2, 3])])
        #expect(feeder.splitter.bytesBuffered == 0)
        #expect(feeder.splitter.bytesAllocated == 0)
    }

    @Test func `every split gives the same frames`() {
        var generator = SplitMix64(seed: 7)
        let stream: [[UInt8]] = (0..<60).map { _ in
            let count = Int.random(in: 0...100, using: &generator)
            return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
        let bytes = stream.flatMap(framed)
        let expected = stream.map { $0.isEmpty ? Seen.keepAlive : .body($0) }
        for round in 0..<400 {
            var feeder = Feeder()
            var start = 0
            while start < bytes.count {
                let step = round == 0 ? 1 : Int.random(in: 1...(round * 2), using: &generator)
                let end = min(bytes.count, start + step)
                feeder.feed(Array(bytes[start..<end]))
                start = end
            }
            #expect(feeder.seen == expected)
            #expect(feeder.splitter.bytesBuffered == 0)
            #expect(feeder.splitter.bytesAllocated == 0)
        }
    }

    @Test func `an owner may stop after any frame and go on later`() {
        var generator = SplitMix64(seed: 11)
        let stream = (0..<40).map { [UInt8](repeating: UInt8($0), count: $0 % 7) }
        let bytes = stream.flatMap(framed)
        let expected = stream.map { $0.isEmpty ? Seen.keepAlive : .body($0) }
        for _ in 0..<400 {
            var feeder = Feeder()
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + Int.random(in: 1...60, using: &generator))
                feeder.feed(
                    Array(bytes[start..<end]), framesMax: Int.random(in: 0...3, using: &generator)
                )
                start = end
                if Bool.random(using: &generator) { feeder.feed([], framesMax: 1) }
            }
            feeder.feed([])
            #expect(feeder.seen == expected)
            #expect(feeder.splitter.bytesAllocated == 0)
        }
    }

    @Test func `a beginning does not hold the memory of the frames before it`() {
        var feeder = Feeder()
        let frames = [[UInt8]](repeating: framed([1, 2, 3]), count: 200)
        let many = Array(frames.joined()) + [0, 0]
        feeder.feed(many, framesMax: 0)
        #expect(feeder.splitter.bytesBuffered == many.count)
        feeder.feed([0])
        #expect(feeder.seen.count == 200)
        #expect(feeder.splitter.bytesBuffered == 3)
        #expect(feeder.splitter.bytesAllocated <= 64)
    }
}
