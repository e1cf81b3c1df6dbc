import Containers
import Testing

@testable import Outboxes

@Suite struct `Frames that outboxes share` {
    static let frame = Array("an event".utf8)

    func written(
        _ outbox: inout Outbox, _ frames: inout SharedFrames, _ text: [UInt8] = []
    ) -> [UInt8] {
        var pool = BufferPool()
        return unsafe frames.drain(&outbox, filling: text, to: &pool) { unsafe Array($0) }
    }

    func filled(_ bytes: [UInt8], _ gaps: [Int], with text: [UInt8]) -> [UInt8] {
        let starts = [0] + gaps
        let ends = gaps + [bytes.count]
        return Array(zip(starts, ends).map { bytes[$0..<$1] }.joined(separator: text))
    }

    func add(_ bytes: [UInt8], to frames: inout SharedFrames, for receiverCount: Int = 1)
        -> SharedFrames.Frame?
    {
        frames.add(bytes.span, headerBytesMax: 0, for: receiverCount) { $1.append($0) }
    }

    @Test func `are written in their order, among what an outbox owns`() throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var frames = SharedFrames()
        var outboxes = [Outbox](repeating: Outbox(), count: 9)
        // What fills the gaps: nothing for three of them.
        let texts = (0..<9).map { [UInt8](repeating: UInt8($0), count: 20 * max(0, $0 - 2)) }
        var expected = [[UInt8]](repeating: [], count: 9)
        for _ in 0..<20_000 {
            let slot = Int.random(in: 0..<9, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<12:
                let length = Int.random(in: 1...300, using: &random)
                let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
                let receivers = (0..<9).filter { _ in Bool.random(using: &random) }
                let gapCount = Int.random(in: 0...3, using: &random)
                let gaps = (0..<gapCount).map { _ in Int.random(in: 0...length, using: &random) }
                    .sorted()
                let added =
                    gaps.isEmpty
                    ? add(bytes, to: &frames, for: receivers.count)
                    : frames.add(bytes.span, gaps: gaps.span, for: receivers.count)
                let frame = try #require(added)
                for receiver in receivers {
                    frames.share(
                        frame, with: &outboxes[receiver], textBytes: texts[receiver].count)
                    expected[receiver] += filled(bytes, gaps, with: texts[receiver])
                }
            case 12..<16:
                let bytes = Array("answer \(random.next())".utf8)
                outboxes[slot].bytes.append(contentsOf: bytes)
                expected[slot] += bytes
            case 16..<19:
                #expect(outboxes[slot].count == expected[slot].count)
                #expect(outboxes[slot].isEmpty == expected[slot].isEmpty)
                #expect(written(&outboxes[slot], &frames, texts[slot]) == expected[slot])
                #expect(outboxes[slot].isEmpty && outboxes[slot].count == 0)
                expected[slot] = []
            default:
                let writtenCount = Int.random(in: 0...9, using: &random)
                frames.beginWriting()
                for slot in 0..<writtenCount {
                    #expect(written(&outboxes[slot], &frames, texts[slot]) == expected[slot])
                    expected[slot] = []
                }
                frames.endWriting(all: writtenCount == 9)
            }
        }
    }

    @Test func `last until no outbox has a share`() throws {
        var frames = SharedFrames()
        var outboxes = [Outbox](repeating: Outbox(), count: 2)
        let large = [UInt8](repeating: 7, count: SharedFrames.Limits().bytesMax / 2)
        let first = try #require({ add(large, to: &frames, for: 2) }())
        for slot in outboxes.indices { frames.share(first, with: &outboxes[slot]) }
        #expect(!frames.isLarge)
        frames.beginWriting()
        #expect(written(&outboxes[0], &frames) == large)
        frames.endWriting(all: false)
        let second = try #require({ add(Self.frame, to: &frames, for: 2) }())
        for slot in outboxes.indices { frames.share(second, with: &outboxes[slot]) }
        #expect(frames.isLarge, "all are to be written next")
        frames.beginWriting()
        #expect(written(&outboxes[0], &frames) == Self.frame)
        #expect(written(&outboxes[1], &frames) == large + Self.frame)
        frames.endWriting(all: true)
        #expect(!frames.isLarge)
    }

    @Test func `are framed once, with a header of the length that is reserved or less`() throws {
        var frames = SharedFrames()
        var outboxes = [Outbox](repeating: Outbox(), count: 3)
        var calls = 0
        let frame = frames.add(Self.frame.span, headerBytesMax: 4, for: 3) { body, bytes in
            calls += 1
            bytes += [1, 2]
            bytes.append(body)
        }
        let added = try #require(frame)
        for slot in outboxes.indices { frames.share(added, with: &outboxes[slot]) }
        for slot in outboxes.indices {
            #expect(outboxes[slot].count == 2 + Self.frame.count)
            #expect(written(&outboxes[slot], &frames) == [1, 2] + Self.frame)
        }
        #expect(calls == 1)
    }

    @Test func `stay where they are when there is nothing to put together`() throws {
        var frames = SharedFrames()
        var outbox = Outbox()
        let large = [UInt8](repeating: 7, count: 100_000)
        let frame = try #require({ add(large, to: &frames) }())
        let before = frames.heapBytes
        frames.share(frame, with: &outbox)
        #expect(written(&outbox, &frames) == large)
        #expect(frames.heapBytes < before + large.count)
    }

    @Test func `are not taken in while outboxes are being written`() throws {
        var frames = SharedFrames()
        frames.beginWriting()
        #expect(add(Self.frame, to: &frames) == nil)
        frames.endWriting(all: true)
        #expect(add(Self.frame, to: &frames) != nil)
    }

    @Test func `are bounded, and small turns give back the memory of a large one`() throws {
        var frames = SharedFrames()
        var outbox = Outbox()
        let limits = SharedFrames.Limits()
        #expect(add(Self.frame, to: &frames, for: limits.shareCountMax + 1) == nil)
        let large = [UInt8](repeating: 7, count: limits.bytesMax / 4)
        for _ in 0..<4 {
            let frame = try #require({ add(large, to: &frames) }())
            frames.share(frame, with: &outbox)
        }
        #expect(add(Self.frame, to: &frames) == nil)
        #expect(written(&outbox, &frames) == Array(repeatElement(7, count: limits.bytesMax)))
        #expect(frames.heapBytes >= 2 * limits.bytesMax)
        frames.endWriting(all: true)
        #expect(frames.heapBytes >= limits.bytesMax, "the next turn may be as large")
        for _ in 0..<SharedFrames.littleUsedCountMax {
            #expect(frames.heapBytes >= limits.bytesMax)
            let small = try #require({ add(Self.frame, to: &frames) }())
            frames.share(small, with: &outbox)
            frames.trim()
            #expect(written(&outbox, &frames) == Self.frame)
            frames.endWriting(all: true)
        }
        #expect(frames.heapBytes < SharedFrames.bytesKeptMax)
        frames.trim()
        #expect(frames.heapBytes == 0)
    }

    @Test func `are not kept by an outbox over the turn`() async {
        await #expect(processExitsWith: .failure) {
            var frames = SharedFrames()
            var outbox = Outbox()
            let bytes: [UInt8] = [1]
            guard
                let frame = frames.add(
                    bytes.span, headerBytesMax: 0, for: 1, { $1.append($0) })
            else { return }
            frames.share(frame, with: &outbox)
            frames.endWriting(all: true)
        }
    }

    @Test func `are dropped with the outbox of a connection that has gone`() throws {
        var frames = SharedFrames()
        var outbox = Outbox()
        var pool = BufferPool()
        let frame = try #require({ add(Self.frame, to: &frames) }())
        frames.share(frame, with: &outbox)
        frames.empty(&outbox, to: &pool)
        frames.endWriting(all: true)
        #expect(outbox.isEmpty && written(&outbox, &frames) == [])
    }
}
