import Containers

/// The frames of a turn that are for many, each once, and who is to have which.
///
/// An event for a thousand outboxes is not copied to a thousand places that no cache holds, only
/// to be read from there again. Each outbox is given a share of 12 bytes, and is put together at
/// a place that is hot when it is written; with one share alone, there is nothing to put together.
///
/// All shares of a turn are written, or dropped, before it ends: what a socket does not take
/// then, it owns.
struct SharedFrames {
    /// Where a frame stands in an outbox: behind the share before it, and behind as many of the
    /// outbox's own bytes as there were then.
    private struct Share {
        var frame: UInt32
        var ownCount: UInt32
        var before: UInt32
    }

    /// A frame that has been added. Good until `removeAll`.
    struct Frame {
        fileprivate let number: UInt32
        /// Its bytes.
        fileprivate let count: UInt32
    }

    static let noShare = UInt32.max
    /// Bytes of frames, and shares, in one turn; what comes beyond is copied to each outbox.
    static let bytesMax = 1 << 22
    static let shareCountMax = 1 << 19
    /// Whoever has used more than this gives all of it back.
    static let bytesKeptMax = 1 << 18
    static let shareCountKeptMax = 1 << 16

    /// Whether shares are given.
    private(set) var phase = Phase.open
    private var bytes: [UInt8] = []
    /// Where each frame ends; it begins where the one before it does.
    private var ends: [UInt32] = []
    private var shares: [Share] = []
    /// Where outboxes are put together. As long as the longest of them was.
    private var assembly: [UInt8] = []

    enum Phase {
        case open
        /// Outboxes are being written, and what comes meanwhile is copied to each.
        case closed
    }

    /// Takes in a frame for `receiverCount` outboxes; nil: it is to be copied to each.
    mutating func add(_ frame: Span<UInt8>, for receiverCount: Int) -> Frame? {
        guard phase == .open, frame.count <= Self.bytesMax - bytes.count,
            receiverCount <= Self.shareCountMax - shares.count
        else { return nil }
        bytes.append(frame)
        ends.append(UInt32(bytes.count))
        return Frame(number: UInt32(ends.count - 1), count: UInt32(frame.count))
    }

    /// Puts a frame at the end of an outbox. O(1).
    mutating func share(_ frame: Frame, with outbox: inout Outbox) {
        let newest = UInt32(truncatingIfNeeded: shares.count)
        shares.append(
            Share(
                frame: frame.number,
                ownCount: UInt32(truncatingIfNeeded: outbox.bytes.count),
                before: outbox.newestShare))
        outbox.addShare(newest, bytesCount: frame.count)
    }

    /// Gives `body` the bytes of an outbox, all in one piece and in their order; it holds no
    /// shares then.
    ///
    /// Copies them where they are in several pieces. O(bytes).
    mutating func drain<Result>(
        _ outbox: inout Outbox, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        defer { outbox.dropShares() }
        guard outbox.newestShare != Self.noShare else {
            return unsafe outbox.bytes.withUnsafeBytes(body)
        }
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
    private mutating func assemble(_ outbox: inout Outbox, _ count: Int) {
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

    private func place(of share: Share) -> Range<Int> {
        let number = Int(share.frame)
        return (number == 0 ? 0 : Int(ends[number - 1]))..<Int(ends[number])
    }

    /// Gives no more shares until `removeAll`.
    mutating func close() {
        phase = .closed
    }

    /// Begins the next turn: all that were given have been written.
    mutating func removeAll() {
        let isLarge = bytes.capacity > Self.bytesKeptMax || assembly.count > Self.bytesKeptMax
        let isLong = shares.capacity > Self.shareCountKeptMax
        bytes.removeAll(keepingCapacity: !isLarge)
        ends.removeAll(keepingCapacity: !isLarge)
        shares.removeAll(keepingCapacity: !isLong)
        if isLarge { assembly = [] }
        phase = .open
    }

    /// Memory that is kept from turn to turn.
    var heapBytes: Int {
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
