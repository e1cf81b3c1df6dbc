import Containers

/// The frames of a turn that are for many, each once, and who is to have which.
///
/// An event for a thousand outboxes is not copied to a thousand places that no cache holds, only
/// to be read from there again. Each outbox is given a share of 12 bytes, and is put together at
/// a place that is hot when it is written; with one share alone, there is nothing to put together.
///
/// A share lasts until the outboxes have been written next, at the end of the turn or of the one
/// after it: what a socket does not take then, its outbox owns.
public struct SharedFrames {
    /// Where a frame stands in an outbox: behind the share before it, and behind as many of the
    /// outbox's own bytes as there were then.
    @usableFromInline struct Share {
        @usableFromInline var frame: UInt32
        @usableFromInline var ownCount: UInt32
        @usableFromInline var before: UInt32

        @inlinable init(_ frame: UInt32, ownCount: UInt32, before: UInt32) {
            (self.frame, self.ownCount, self.before) = (frame, ownCount, before)
        }
    }

    /// A frame that has been added. Good until `beginTurn`.
    public struct Frame {
        @usableFromInline let number: UInt32
        /// Its bytes.
        @usableFromInline let count: UInt32
    }

    @usableFromInline static let noShare = UInt32.max
    /// A turn that has used more than this gives the memory back.
    static let bytesKeptMax = 1 << 18
    static let shareCountKeptMax = 1 << 16

    private let limits: Limits
    /// Whether shares are given.
    private var phase = Phase.open
    /// Outboxes that have shares.
    @usableFromInline var holderCount = 0
    @usableFromInline var bytes: [UInt8] = []
    /// Where each frame ends; it begins where the one before it does.
    private var ends: [UInt32] = []
    @usableFromInline var shares: [Share] = []
    /// Where outboxes are put together. As long as the longest of them was.
    @usableFromInline var assembly: [UInt8] = []

    /// What there may be at a time; what comes beyond is copied to each outbox.
    public struct Limits: Sendable {
        /// Bytes of frames.
        public var bytesMax = 1 << 22
        /// Outboxes that have a frame, summed over the frames.
        public var shareCountMax = 1 << 19

        /// The defaults: some 10 MiB.
        public init() {}
    }

    private enum Phase {
        /// To: `writing`.
        case open
        /// Outboxes are being written, and what comes meanwhile is copied to each. To: `open`.
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
        guard phase == .open, body.count + headerBytesMax <= limits.bytesMax - bytes.count,
            receiverCount <= limits.shareCountMax - shares.count
        else { return nil }
        let start = bytes.count
        frame(body, &bytes)
        let count = bytes.count - start
        precondition(
            (body.count...body.count + headerBytesMax).contains(count), "a header misjudged")
        ends.append(UInt32(bytes.count))
        return Frame(number: UInt32(ends.count - 1), count: UInt32(count))
    }

    /// Puts a frame at the end of an outbox. O(1).
    @inlinable public mutating func share(_ frame: Frame, with outbox: inout Outbox) {
        if !outbox.hasShares { holderCount += 1 }
        let newest = UInt32(shares.count)
        shares.append(
            Share(
                frame.number, ownCount: UInt32(outbox.bytes.count), before: outbox.newestShare))
        outbox.addShare(newest, bytesCount: frame.count)
    }

    /// Gives `body` the bytes of an outbox, all in one piece and in their order, and empties it.
    ///
    /// Copies them where they are in several pieces. O(bytes).
    @inlinable public mutating func drain<Result>(
        _ outbox: inout Outbox, to pool: inout BufferPool,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let result = unsafe withBytes(of: &outbox, body)
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
        of outbox: inout Outbox, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        guard outbox.hasShares else { return unsafe outbox.bytes.withUnsafeBytes(body) }
        let newest = shares[Int(outbox.newestShare)]
        if newest.before == Self.noShare, outbox.bytes.isEmpty {
            let place = place(of: newest)
            return unsafe bytes.withUnsafeBytes {
                unsafe body(UnsafeRawBufferPointer(rebasing: $0[place]))
            }
        }
        let count = outbox.count
        assemble(&outbox, count)
        return unsafe assembly.withUnsafeBytes {
            unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
    }

    /// Puts an outbox together from its end to its beginning, as its shares are linked.
    @usableFromInline mutating func assemble(_ outbox: inout Outbox, _ count: Int) {
        if assembly.count < count {
            assembly.append(contentsOf: repeatElement(0, count: count - assembly.count))
        }
        var target = Backwards(end: count)
        var ownEnd = outbox.bytes.count
        var number = outbox.newestShare
        while number != Self.noShare {
            let share = shares[Int(number)]
            let ownCount = Int(share.ownCount)
            if ownCount < ownEnd { target.copy(outbox.bytes, ownCount..<ownEnd, to: &assembly) }
            ownEnd = ownCount
            target.copy(bytes, place(of: share), to: &assembly)
            number = share.before
        }
        target.copy(outbox.bytes, 0..<ownEnd, to: &assembly)
        precondition(target.end == 0, "an outbox is not as long as its parts")
    }

    @usableFromInline func place(of share: Share) -> Range<Int> {
        let number = Int(share.frame)
        return (number == 0 ? 0 : Int(ends[number - 1]))..<Int(ends[number])
    }

    /// Outboxes will be written: there are no more shares until the next turn.
    public mutating func beginWriting() {
        phase = .writing
    }

    /// Begins the next turn: all that have shares have been written or emptied.
    public mutating func beginTurn() {
        precondition(holderCount == 0, "an outbox keeps shares of a turn that is over")
        let isLarge = bytes.count > Self.bytesKeptMax || assembly.count > Self.bytesKeptMax
        let isLong = shares.count > Self.shareCountKeptMax
        if !ends.isEmpty {
            bytes.removeAll(keepingCapacity: !isLarge)
            ends.removeAll(keepingCapacity: !isLarge)
            shares.removeAll(keepingCapacity: !isLong)
        }
        if isLarge { assembly = [] }
        phase = .open
    }

    /// Memory that is in use or kept for the next turn.
    public var heapBytes: Int {
        bytes.capacity + assembly.capacity + ends.capacity * MemoryLayout<UInt32>.stride
            + shares.capacity * MemoryLayout<Share>.stride
    }
}

/// Fills bytes from their end to their beginning.
private struct Backwards {
    /// What is before it is not filled yet.
    var end: Int

    @inline(__always)
    mutating func copy(_ source: [UInt8], _ part: Range<Int>, to target: inout [UInt8]) {
        precondition(part.upperBound <= source.count && part.count <= end && end <= target.count)
        unsafe target.withUnsafeMutableBufferPointer { target in
            unsafe source.withUnsafeBufferPointer { source in
                guard let from = source.baseAddress, let to = target.baseAddress
                else { return }
                unsafe (to + end - part.count).update(
                    from: from + part.lowerBound, count: part.count)
            }
        }
        end -= part.count
    }
}
