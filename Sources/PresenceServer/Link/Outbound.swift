import Containers
import Passwords
import PresenceCore
import PresenceWire
import PresenceXMPP

/// What the engine host has for a connection loop, in order. Its owner reuses the buffer.
struct Outbound: Sendable {
    /// For all loops.
    var shared = SharedOutput()
    /// For this loop.
    var own = LoopOutput()

    /// Whether there is nothing.
    var isEmpty: Bool { own.isEmpty }

    /// About how much memory it takes.
    var byteCount: Int {
        shared.byteCount + own.byteCount
    }

    /// Forgets everything and keeps the memory.
    mutating func removeAll() {
        shared.removeAll()
        own.removeAll()
    }
}

/// What the items of all loops refer to.
struct SharedOutput: Sendable {
    /// Answers, states and names.
    var effects = Effects()
    /// Bodies of events, each encoded once; and lists of events for readers of the feed.
    private(set) var bytes: [UInt8] = []
    private var ends: [Int] = []
    /// Events and other stanzas for XMPP clients, each encoded once for all of its receivers.
    private(set) var stanzas = StanzaTemplate()
    private var stanzaEnds: [StanzaTemplate.End] = []

    private static let bytesKeptMax = 1 << 18
    private static let eventsKeptMax = 4_096

    /// Whether there is nothing.
    var isEmpty: Bool {
        ends.isEmpty && stanzaEnds.isEmpty && effects.bytes.isEmpty && effects.events.isEmpty
            && effects.answers.isEmpty && effects.names.isEmpty
    }

    /// About how much memory it takes.
    var byteCount: Int {
        bytes.count + stanzas.byteCount + effects.byteCount
    }

    /// Where a body is in `bytes`.
    func range(of body: BatchIndex<Body>) -> Range<Int> {
        let index = body.index
        return (index == 0 ? 0 : ends[index - 1])..<ends[index]
    }

    /// Adds the body that `encode` appends.
    mutating func add(
        _ encode: (inout [UInt8], borrowing Effects) -> Void
    ) -> BatchIndex<Body> {
        encode(&bytes, effects)
        return endBody()
    }

    /// Copies a body of another output.
    mutating func copy(
        _ body: BatchIndex<Body>, from other: borrowing SharedOutput
    ) -> BatchIndex<Body> {
        bytes += other.bytes[other.range(of: body)]
        return endBody()
    }

    private mutating func endBody() -> BatchIndex<Body> {
        ends.append(bytes.count)
        return BatchIndex(ends.count - 1)
    }

    /// Where stanzas are in `stanzas`.
    func part(of number: BatchIndex<Stanzas>) -> StanzaTemplate.Part {
        let index = number.index
        return StanzaTemplate.Part(
            from: index == 0 ? .none : stanzaEnds[index - 1], to: stanzaEnds[index])
    }

    /// Adds the stanzas that `encode` appends.
    mutating func addStanzas(
        _ encode: (inout StanzaTemplate, borrowing Effects) -> Void
    ) -> BatchIndex<Stanzas> {
        encode(&stanzas, effects)
        return endStanzas()
    }

    /// Adds stanzas that have been encoded before.
    mutating func add(_ encoded: borrowing StanzaTemplate) -> BatchIndex<Stanzas> {
        stanzas.append(encoded.whole, of: encoded)
        return endStanzas()
    }

    /// Copies stanzas of another output.
    mutating func copy(
        _ number: BatchIndex<Stanzas>, from other: borrowing SharedOutput
    ) -> BatchIndex<Stanzas> {
        stanzas.append(other.part(of: number), of: other.stanzas)
        return endStanzas()
    }

    private mutating func endStanzas() -> BatchIndex<Stanzas> {
        stanzaEnds.append(stanzas.end)
        return BatchIndex(stanzaEnds.count - 1)
    }

    /// Copies names of another output.
    mutating func copy(
        _ names: BatchRange<ByteRange>, from other: borrowing SharedOutput
    ) -> BatchRange<ByteRange> {
        let start = effects.names.count
        for name in other.effects.names[names] {
            effects.names.append(copyText(name, from: other))
        }
        return BatchRange(start..<effects.names.count)
    }

    /// Copies a notice of a contact of another output.
    mutating func copy(
        _ index: BatchIndex<ContactNotice>, from other: borrowing SharedOutput
    ) -> BatchIndex<ContactNotice> {
        var notice = other.effects.notices[index]
        notice.contact.account = copyText(notice.contact.account, from: other)
        notice.contact.label = copyText(notice.contact.label, from: other)
        if let text = notice.contact.requestText {
            notice.contact.requestText = copyText(text, from: other)
        }
        if let extra = notice.contact.requestExtra {
            notice.contact.requestExtra = copyText(extra, from: other)
        }
        effects.notices.append(notice)
        return BatchIndex(effects.notices.count - 1)
    }

    private mutating func copyText(
        _ text: ByteRange, from other: borrowing SharedOutput
    ) -> ByteRange {
        let start = effects.bytes.count
        effects.bytes += other.effects.bytes[Int(text.start)..<Int(text.start + text.count)]
        return ByteRange(start: Int32(start), count: text.count)
    }

    /// Forgets everything and keeps the memory, unless this was a large turn.
    mutating func removeAll() {
        guard bytes.count <= Self.bytesKeptMax, effects.events.count <= Self.eventsKeptMax,
            effects.bytes.count <= Self.bytesKeptMax, stanzas.byteCount <= Self.bytesKeptMax
        else {
            self = SharedOutput()
            return
        }
        effects.removeAll()
        bytes.clear()
        ends.clear()
        stanzas.removeAll()
        stanzaEnds.clear()
    }
}

/// What one loop has to do.
struct LoopOutput: Sendable {
    /// Of a connection loop.
    var items: [OutboundItem] = []
    /// Of a loop in process, which has no other items.
    var calls: [InProcessItem] = []
    /// Slots of this loop: what `OutboundItem.fanOut` refers to.
    var receivers: [UInt32] = []
    /// How many receivers there were before those of the item that is being added.
    private(set) var receiversBefore = 0

    /// Whether there is nothing.
    var isEmpty: Bool { items.isEmpty && calls.isEmpty }

    /// About how much memory it takes.
    var byteCount: Int {
        items.count * MemoryLayout<OutboundItem>.stride
            + calls.count * MemoryLayout<InProcessItem>.stride
            + receivers.count * MemoryLayout<UInt32>.stride
    }

    private static let receiversKeptMax = 1 << 16
    private static let itemsKeptMax = 4_096

    /// The receivers of an item are added next.
    mutating func beginFanOut() { receiversBefore = receivers.count }

    /// Adds an item for the receivers that were added since, if there are any.
    mutating func endFanOut(_ item: FanOutItem) {
        guard receivers.count > receiversBefore else { return }
        items.append(.fanOut(item, BatchRange(receiversBefore..<receivers.count)))
    }

    /// Makes room for as much as another turn had, unless that was a large one.
    mutating func reserve(as other: borrowing LoopOutput) {
        receivers.reserveCapacity(min(other.receivers.count, Self.itemsKeptMax))
    }

    /// Forgets everything and keeps the memory, unless this was a large turn.
    mutating func removeAll() {
        guard receivers.count <= Self.receiversKeptMax, items.count <= Self.itemsKeptMax else {
            self = LoopOutput()
            return
        }
        items.clear()
        calls.clear()
        receivers.clear()
    }
}
