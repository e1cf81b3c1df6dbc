import Connections
import Containers
import PresenceCore
import PresenceWire
import PresenceXMPP

/// What the engine host has for the loops: what all share, and a part for each.
struct HostOutput: Sendable {
    var shared = SharedOutput()
    private var parts: [LoopOutput]
    private let loops: LoopCount
    /// Whether a loop in process has something to do.
    private var isForLoopsInProcess = false
    /// The event of `shared.effects` that was encoded last, and its body.
    private var encoded: (event: Int, body: BatchIndex<Body>)?
    /// The slots of XMPP clients.
    var stanzaReceivers = SlotSet()

    init(loops count: Int) {
        parts = Array(repeating: LoopOutput(), count: count + LoopCount.inProcessMax)
        loops = LoopCount(count)
    }

    /// Appends something for a caller: a client, or a call or a feed reader in process.
    mutating func append(_ item: CallerItem, for caller: ConnectionID) {
        let loop = loops.loop(of: caller.slot)
        if loop < loops.count {
            parts[loop].items.append(.caller(caller, item))
        } else {
            append(.caller(caller, item), toLoopInProcess: loop)
        }
    }

    /// Appends something for a client.
    mutating func append(_ item: ClientItem, for client: ConnectionID) {
        precondition(!client.isInProcess, "an item for a connection")
        parts[loops.loop(of: client.slot)].items.append(.client(client, item))
    }

    /// Appends something for a loop in process.
    mutating func append(_ item: InProcessItem, toLoopInProcess loop: Int) {
        precondition(loop >= loops.count, "an item for a caller in process")
        parts[loop].calls.append(item)
        isForLoopsInProcess = true
    }

    /// Appends something for the connection loop that accepts.
    mutating func appendToFirst(_ item: LoopItem) {
        parts[0].items.append(.loop(item))
    }

    /// Appends something for every connection loop, but those in `omitted`.
    mutating func appendToAll(_ item: LoopItem, omitting omitted: LoopSet = []) {
        for index in 0..<loops.count where !omitted.contains(index) {
            parts[index].items.append(.loop(item))
        }
    }

    /// The body of an event; encoded once.
    mutating func body(of event: Int) -> BatchIndex<Body> {
        if let encoded, encoded.event == event { return encoded.body }
        let body = shared.add { bytes, effects in
            bytes.appendEventBody(effects.events[event], in: effects)
        }
        encoded = (event, body)
        return body
    }

    /// The stanzas of an event; nil if there are none.
    mutating func stanzas(of event: Int) -> BatchIndex<Stanzas>? {
        let stanzas = shared.addStanzas { template, effects in
            template.append(effects.events[event], in: effects)
        }
        return shared.part(of: stanzas).byteCount > 0 ? stanzas : nil
    }

    /// The stanzas of an event.
    func copyOfStanzas(of event: Int) -> StanzaTemplate {
        var template = StanzaTemplate()
        template.append(shared.effects.events[event], in: shared.effects)
        return template
    }

    /// Divides receivers, a range of `shared.effects.receivers`, into native clients and XMPP
    /// clients. Without XMPP clients it looks at none of them.
    mutating func divide(_ receivers: Range<Int>) -> (native: Range<Int>, xmpp: Range<Int>) {
        guard !stanzaReceivers.isEmpty else {
            return (receivers, receivers.upperBound..<receivers.upperBound)
        }
        let natives = stanzaReceivers.moveMembers(
            toStartOf: receivers, in: &shared.effects.receivers)
        return (natives..<receivers.upperBound, receivers.lowerBound..<natives)
    }

    /// Appends an item for the receivers of each loop that has any.
    ///
    /// `receivers` is a range of `shared.effects.receivers`. Loops in `omitted` are left out.
    mutating func append(
        _ item: FanOutItem, to receivers: Range<Int>, omitting omitted: LoopSet = []
    ) {
        guard loops.count > 1 else {
            parts[0].beginFanOut()
            parts[0].receivers.append(contentsOf: shared.effects.receivers[receivers])
            parts[0].endFanOut(item)
            return
        }
        for index in 0..<loops.count { parts[index].beginFanOut() }
        for place in receivers {
            let slot = shared.effects.receivers[place]
            let loop = loops.loop(of: slot)
            guard !omitted.contains(loop) else { continue }
            parts[loop].receivers.append(loops.local(slot))
        }
        for index in 0..<loops.count { parts[index].endFanOut(item) }
    }

    /// Forgets the effects that have been sorted. What items refer to stays.
    mutating func sorted() {
        shared.effects.items.clear()
        shared.effects.receivers.clear()
        shared.effects.records.clear()
    }

    /// Forgets everything, when no item refers to it.
    mutating func removeAll() {
        encoded = nil
        _ = shared.effects.takeVisits()
        guard !shared.isEmpty else { return }
        shared.removeAll()
    }

    /// Whether no loop has anything to do.
    var isEmpty: Bool { isForFirstOnly && parts[0].items.isEmpty }

    /// About how much memory it takes.
    var byteCount: Int {
        parts.reduce(shared.byteCount) {
            $0 + $1.receivers.count * MemoryLayout<UInt32>.stride
        }
    }

    /// What it takes, in bytes: encoding and sending them, and what the engine has visited as the
    /// bytes that take as long.
    var cost: Int { byteCount + TurnBudget.units(visits: shared.effects.visits) << 10 }

    /// Takes the units of work that the engine has had since they were taken last.
    mutating func takeWork() -> Int { TurnBudget.units(visits: shared.effects.takeVisits()) }

    /// Whether the first loop is the only one that has something to do.
    var isForFirstOnly: Bool {
        !isForLoopsInProcess && (1..<loops.count).allSatisfy { parts[$0].items.isEmpty }
    }

    /// Exchanges everything, for the first loop, with an empty buffer.
    mutating func exchange(with outbound: inout Outbound) {
        precondition(isForFirstOnly, "output of several loops")
        encoded = nil
        swap(&shared, &outbound.shared)
        swap(&parts[0], &outbound.own)
    }

    /// Takes everything, one part for each loop; what is shared is shared by all.
    ///
    /// Loops in `stalled` keep only what their items refer to: what they have waits for
    /// an unknown time, and an item for a single connection would keep the memory of a whole turn.
    mutating func take(stalled: LoopSet = []) -> [SealedOutbound] {
        var next = HostOutput(loops: loops.count)
        // What has been sorted stays with the engine host, and its memory is used again.
        swap(&next.shared.effects.items, &shared.effects.items)
        swap(&next.shared.effects.receivers, &shared.effects.receivers)
        swap(&next.shared.effects.records, &shared.effects.records)
        for index in parts.indices { next.parts[index].reserve(as: parts[index]) }
        let sealed = SealedOutbound.Shared(shared)
        let outbound = parts.enumerated().map { loop, own in
            stalled.contains(loop)
                ? SealedOutbound(copyingFrom: sealed, own) : SealedOutbound(sealed, own)
        }
        next.stanzaReceivers = stanzaReceivers
        self = next
        return outbound
    }
}
