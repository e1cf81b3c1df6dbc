// Stanzas for many receivers are encoded once. Where they differ by receiver they have gaps. The
// places of the gaps are kept beside the bytes, up to the outboxes that share the stanzas: no
// connection loop has to search for them.

internal import Containers

/// Stanzas for any number of receivers: XML without what differs by receiver.
public struct StanzaTemplate: Hashable, Sendable {
    /// What a gap is filled with.
    public enum Filling: UInt8, Sendable {
        /// The domain of the receiver, which is that of its JID, and of the JIDs that it is sent.
        case domain
        /// The bare JID of the receiver.
        case receiver
    }

    /// A place where something is left out.
    public struct Gap: Hashable, Sendable {
        let place: UInt32
        let filling: Filling
    }

    /// Where some of the stanzas end.
    public struct End: Hashable, Sendable {
        fileprivate var bytes: UInt32
        fileprivate var gaps: UInt32

        /// Before the first stanza.
        public static let none = End(bytes: 0, gaps: 0)
    }

    /// Some of the stanzas.
    public struct Part: Hashable, Sendable {
        fileprivate(set) var bytes: Range<Int>
        let gaps: Range<Int>

        /// The stanzas between two ends.
        public init(from start: End, to end: End) {
            bytes = Int(start.bytes)..<Int(end.bytes)
            gaps = Int(start.gaps)..<Int(end.gaps)
        }

        /// How many bytes it has, without what fills the gaps.
        public var byteCount: Int { bytes.count }
    }

    /// The stanzas, one after the other.
    var bytes: [UInt8] = []
    /// In rising order.
    private(set) var gaps: [Gap] = []

    /// No stanzas.
    public init() {}

    /// Whether there are none.
    public var isEmpty: Bool { bytes.isEmpty }

    /// How much memory the stanzas take.
    public var byteCount: Int { bytes.count + gaps.count * MemoryLayout<Gap>.stride }

    /// Where the last stanza ends.
    public var end: End { End(bytes: UInt32(bytes.count), gaps: UInt32(gaps.count)) }

    /// All stanzas.
    public var whole: Part { Part(from: .none, to: end) }

    /// All stanzas, without the beginning of the first, in which there is no gap.
    func rest(after start: StaticString) -> Part {
        precondition(bytes.count >= start.utf8CodeUnitCount, "stanzas that begin with less")
        var part = whole
        part.bytes = start.utf8CodeUnitCount..<bytes.count
        return part
    }

    /// Forgets the stanzas, and keeps the memory.
    public mutating func removeAll() {
        bytes.clear()
        gaps.clear()
    }

    /// Forgets what follows an end.
    mutating func removeAll(after end: End) {
        precondition(end.bytes <= bytes.count && end.gaps <= gaps.count, "an end of others")
        bytes.removeLast(bytes.count - Int(end.bytes))
        gaps.removeLast(gaps.count - Int(end.gaps))
    }

    /// Appends stanzas of another template.
    public mutating func append(_ part: Part, of other: borrowing StanzaTemplate) {
        let start = bytes.count
        precondition(start + part.byteCount <= Int(UInt32.max), "places have 32 bits")
        bytes += other.bytes[part.bytes]
        for gap in other.gaps[part.gaps] {
            let place = start + Int(gap.place) - part.bytes.lowerBound
            gaps.append(Gap(place: UInt32(place), filling: gap.filling))
        }
    }

    /// Leaves something out.
    mutating func appendGap(for filling: Filling) {
        gaps.append(Gap(place: UInt32(bytes.count), filling: filling))
    }

    /// Appends the full JID of a device, or the bare one of an account, at the domain of the
    /// receiver.
    mutating func appendJID(
        of account: some Collection<UInt8>, device: (some Collection<UInt8>)?
    ) {
        bytes.appendLocalpart(of: account)
        bytes.append(UInt8(ascii: "@"))
        appendGap(for: .domain)
        guard let device else { return }
        bytes.append(UInt8(ascii: "/"))
        bytes.appendResource(of: device)
    }

    /// Appends the stanzas as one receiver gets them: the bare JID is written as it is.
    public func append(
        to receiver: [UInt8], at domain: [UInt8], into output: inout [UInt8]
    ) {
        let bytes = bytes.span
        var start = 0
        for gap in gaps {
            let place = Int(gap.place)
            output.append(bytes.extracting(start..<place))
            switch gap.filling {
            case .domain: output.append(domain.span)
            case .receiver: output.append(receiver.span)
            }
            start = place
        }
        output.append(bytes.extracting(start..<bytes.count))
    }

    /// A hash of what a part has before its first receiver: the device that it is from.
    public func hashOfSender(in part: Part) -> Int {
        var end = part.bytes.upperBound
        if let gap = gaps[part.gaps].first(where: { $0.filling == .receiver }) {
            end = Int(gap.place)
        }
        var hasher = Hasher()
        for byte in bytes[part.bytes.lowerBound..<end] { hasher.combine(byte) }
        return hasher.finalize()
    }
}
