import Containers

/// The frames that are for many, each once, and who is to have which.
///
/// An event for a thousand outboxes is not copied to a thousand places that no cache holds, only
/// to be read from there again. Each outbox is given a share of 12 bytes, and is put together at
/// a place that is hot when it is written; with one share alone, there is nothing to put together.
///
/// A frame may have gaps: places where each outbox has a text of its own, which `drain` is given.
/// So a presence, which names its receiver, is shared like an event that does not.
///
/// A share lasts until its outbox is written next: what a socket does not take then, its outbox
/// owns. The frames last until no outbox has a share.
public struct SharedFrames {
    /// Where a frame is in an outbox: behind the share before it, and behind as many of the
    /// outbox's own bytes as there were then.
    @usableFromInline struct Share {
        @usableFromInline var frame: UInt32
        @usableFromInline var ownCount: UInt32
        @usableFromInline var before: UInt32

        @inlinable init(_ frame: UInt32, ownCount: UInt32, before: UInt32) {
            (self.frame, self.ownCount, self.before) = (frame, ownCount, before)
        }
    }

    /// A frame that has been added. Good until `endWriting`.
    public struct Frame {
        @usableFromInline let number: UInt32
        /// Its bytes, without what fills the gaps.
        @usableFromInline let count: UInt32
        @usableFromInline let gapCount: UInt32

        /// Its bytes in an outbox whose text for the gaps has `textBytes`.
        @inlinable func count(textBytes: Int) -> UInt32 {
            count + gapCount * UInt32(textBytes)
        }
    }

    @usableFromInline static let noShare = UInt32.max
    /// So much memory is kept. More is given back when an eighth would have been enough as many
    /// times as `littleUsedCountMax` says: under load it is needed again soon, and new memory costs
    /// a page fault for each 4 KiB, and a copy each time it grows.
    static let bytesKeptMax = 1 << 18
    static let littleUsedCountMax = 64
    private var littleUsedCount = 0

    private let limits: Limits
    /// Whether shares are given.
    private var phase = Phase.open
    /// Outboxes that have shares.
    @usableFromInline var holderCount = 0
    @usableFromInline var bytes: [UInt8] = []
    /// Where each frame is.
    private var places: [Place] = []
    /// The gaps of all frames, as places in `bytes`.
    private var gaps: [UInt32] = []
    @usableFromInline var shares: [Share] = []
    /// Where outboxes are put together. As long as the longest of them was.
    @usableFromInline var assembly: [UInt8] = []

    /// Limits of what is shared at a time; frames beyond are copied to each outbox.
    public struct Limits: Sendable {
        /// Bytes of frames.
        public var bytesMax = 1 << 22
        /// Outboxes that have a frame, summed over the frames.
        public var shareCountMax = 1 << 19

        /// The defaults: some 10 MiB.
        public init() {}
    }

    /// Where a frame is in `bytes`, and where its gaps are in `gaps`.
    private struct Place {
        var start: UInt32
        var end: UInt32
        var gapsStart: UInt32
        var gapsEnd: UInt32
    }

    private enum Phase {
        /// To: `writing`.
        case open
        /// Outboxes are being written; new frames are copied to each meanwhile. To: `open`.
        case writing
    }

    /// Nothing, and room for what the limits say.
    public init(_ limits: Limits = Limits()) {
        self.limits = limits
    }

    /// Takes in a body for `receiverCount` outboxes, as a frame that `frame` appends with a header
    /// of at most `headerBytesMax`; nil: it is to be copied to each.
    ///
    /// Header and body are in one piece, so that an outbox with one share needs no copy.
    public mutating func add(
        _ body: Span<UInt8>, headerBytesMax: Int, for receiverCount: Int,
        _ frame: (_ body: Span<UInt8>, inout [UInt8]) -> Void
    ) -> Frame? {
        guard hasRoom(for: body.count + headerBytesMax, receiverCount) else { return nil }
        let start = bytes.count
        frame(body, &bytes)
        let count = bytes.count - start
        precondition(
            (body.count...body.count + headerBytesMax).contains(count), "a header misjudged")
        return endFrame(from: start, gapCount: 0)
    }

    /// Takes in a frame for `receiverCount` outboxes; nil: it is to be copied to each.
    ///
    /// `gaps` are the places in it where each outbox has its own text, in rising order.
    public mutating func add(
        _ frame: Span<UInt8>, gaps places: Span<Int>, for receiverCount: Int
    ) -> Frame? {
        guard hasRoom(for: frame.count, receiverCount) else { return nil }
        let start = bytes.count
        bytes.append(frame)
        var last = 0
        for index in places.indices {
            precondition((last...frame.count).contains(places[index]), "gaps out of order")
            last = places[index]
            gaps.append(UInt32(start + last))
        }
        return endFrame(from: start, gapCount: places.count)
    }

    private func hasRoom(for bytesMax: Int, _ receiverCount: Int) -> Bool {
        phase == .open && bytesMax <= limits.bytesMax - bytes.count
            && receiverCount <= limits.shareCountMax - shares.count
    }

    private mutating func endFrame(from start: Int, gapCount: Int) -> Frame {
        places.append(
            Place(
                start: UInt32(start), end: UInt32(bytes.count),
                gapsStart: UInt32(gaps.count - gapCount), gapsEnd: UInt32(gaps.count)))
        return Frame(
            number: UInt32(places.count - 1), count: UInt32(bytes.count - start),
            gapCount: UInt32(gapCount))
    }

    /// Puts a frame at the end of an outbox, whose text for gaps has `textBytes`. O(1).
    @inlinable @inline(__always)
    public mutating func share(
        _ frame: Frame, with outbox: inout Outbox, textBytes: Int = 0
    ) {
        share(frame.number, frame.count(textBytes: textBytes), with: &outbox)
    }

    @inlinable mutating func share(
        _ frame: UInt32, _ bytesCount: UInt32, with outbox: inout Outbox
    ) {
        if !outbox.hasShares { holderCount += 1 }
        let newest = UInt32(shares.count)
        shares.append(
            Share(frame, ownCount: UInt32(outbox.bytes.count), before: outbox.newestShare))
        outbox.addShare(newest, bytesCount: bytesCount)
    }

    /// Gives `body` the bytes of an outbox, all in one piece and in their order, and empties it.
    ///
    /// Copies them where they are in several pieces. `text` fills the gaps; it has the length that
    /// was said when the frames were shared. O(bytes).
    @inlinable public mutating func drain<Result>(
        _ outbox: inout Outbox, filling text: [UInt8] = [], to pool: inout BufferPool,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let result = unsafe withBytes(of: &outbox, text, body)
        empty(&outbox, to: &pool)
        return result
    }

    /// Drops what is in an outbox, and gives its memory back.
    public mutating func empty(_ outbox: inout Outbox, to pool: inout BufferPool) {
        if outbox.hasShares { holderCount -= 1 }
        outbox.forgetShares()
        pool.giveBack(&outbox)
    }

    /// The outbox is not changed: taken like this, it is not retained.
    @inlinable mutating func withBytes<Result>(
        of outbox: inout Outbox, _ text: [UInt8], _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        guard outbox.hasShares else { return unsafe outbox.bytes.withUnsafeBytes(body) }
        let newest = shares[Int(outbox.newestShare)]
        if newest.before == Self.noShare, outbox.bytes.isEmpty, text.isEmpty {
            let place = place(of: newest)
            return unsafe bytes.withUnsafeBytes {
                unsafe body(UnsafeRawBufferPointer(rebasing: $0[place]))
            }
        }
        let count = outbox.count
        assemble(&outbox, text, count)
        return unsafe assembly.withUnsafeBytes {
            unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
    }

    /// Puts an outbox together from its end to its beginning, as its shares are linked.
    @usableFromInline mutating func assemble(
        _ outbox: inout Outbox, _ text: [UInt8], _ count: Int
    ) {
        if assembly.count < count {
            assembly.append(contentsOf: repeatElement(0, count: count - assembly.count))
        }
        // Out of the property and back: so it is asked once whether it is used elsewhere, and not
        // for each piece.
        var assembly: [UInt8] = []
        swap(&assembly, &self.assembly)
        var target = assembly.mutableSpan
        var end = count
        var ownEnd = outbox.bytes.count
        var number = outbox.newestShare
        while number != Self.noShare {
            let share = shares[Int(number)]
            let ownCount = Int(share.ownCount)
            if ownCount < ownEnd {
                target.fill(before: &end, with: outbox.bytes.span, ownCount, ownEnd)
            }
            ownEnd = ownCount
            fill(&target, before: &end, with: share, text.span)
            number = share.before
        }
        target.fill(before: &end, with: outbox.bytes.span, 0, ownEnd)
        precondition(end == 0, "an outbox is not as long as its parts")
        swap(&assembly, &self.assembly)
    }

    /// Copies a frame, with its gaps filled.
    @inline(__always)
    private func fill(
        _ target: inout MutableSpan<UInt8>, before end: inout Int, with share: Share,
        _ text: Span<UInt8>
    ) {
        let place = places[Int(share.frame)]
        var frameEnd = Int(place.end)
        if !text.isEmpty {
            var gap = Int(place.gapsEnd)
            while gap > place.gapsStart {
                gap -= 1
                let gapPlace = Int(gaps[gap])
                target.fill(before: &end, with: bytes.span, gapPlace, frameEnd)
                target.fill(before: &end, with: text, 0, text.count)
                frameEnd = gapPlace
            }
        }
        target.fill(before: &end, with: bytes.span, Int(place.start), frameEnd)
    }

    @usableFromInline func place(of share: Share) -> Range<Int> {
        let place = places[Int(share.frame)]
        return Int(place.start)..<Int(place.end)
    }

    /// Outboxes will be written: there are no more shares until `endWriting`.
    public mutating func beginWriting() {
        phase = .writing
    }

    /// Outboxes have been written: `all` that had something to write, or some of them. Forgets the
    /// frames if no outbox has a share.
    public mutating func endWriting(all: Bool) {
        precondition(!all || holderCount == 0, "an outbox that was written has shares")
        phase = .open
        guard holderCount == 0, !places.isEmpty else { return }
        let usedBytes = bytes.count + shares.count * MemoryLayout<Share>.stride
        let isLittleUsed = heapBytes > max(Self.bytesKeptMax, usedBytes * 8)
        littleUsedCount = isLittleUsed ? littleUsedCount + 1 : 0
        let isKept = littleUsedCount < Self.littleUsedCountMax
        bytes.removeAll(keepingCapacity: isKept)
        places.removeAll(keepingCapacity: isKept)
        gaps.removeAll(keepingCapacity: isKept)
        shares.removeAll(keepingCapacity: isKept)
        if !isKept { assembly = [] }
    }

    /// Gives the memory back, if no outbox has a share.
    public mutating func trim() {
        guard holderCount == 0 else { return }
        (bytes, places, gaps, shares, assembly) = ([], [], [], [], [])
    }

    /// Whether there is half of what may be at a time. It can be forgotten when all outboxes have
    /// been written.
    public var isLarge: Bool {
        bytes.count > limits.bytesMax / 2 || shares.count > limits.shareCountMax / 2
    }

    /// Memory that is in use or kept.
    public var heapBytes: Int {
        bytes.capacity + assembly.capacity + places.capacity * MemoryLayout<Place>.stride
            + gaps.capacity * MemoryLayout<UInt32>.stride
            + shares.capacity * MemoryLayout<Share>.stride
    }
}

extension MutableSpan<UInt8> {
    /// Copies a part of `source` before `end`, which becomes the place where the copy begins.
    @inline(__always)
    fileprivate mutating func fill(
        before end: inout Int, with source: Span<UInt8>, _ partStart: Int, _ partEnd: Int
    ) {
        let byteCount = partEnd - partStart
        precondition(
            partStart >= 0 && partEnd <= source.count && byteCount >= 0 && byteCount <= end
                && end <= count)
        end -= byteCount
        let start = end
        unsafe withUnsafeMutableBytes { target in
            unsafe source.withUnsafeBytes { source in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                unsafe (to + start).copyMemory(from: from + partStart, byteCount: byteCount)
            }
        }
    }
}
