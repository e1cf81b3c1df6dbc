import Containers

/// The connections of a server, in the order in which they have been waiting for their clients.
///
/// A connection above a limit, in total or of its network, closes the connection that has been
/// waiting longest: so idle connections do not block other clients, and a probe gets through.
/// Connections with a pending request are not closed. On the event loop only.
///
/// O(1), except for closing a connection of a network, which visits those that wait longer.
struct OpenConnections<Connection>: ~Copyable {
    private struct Slot {
        var connection: Connection?
        var network: ClientNetwork?
        /// The slots before and after it in the circle of those that wait; its own: it does not.
        var previous: Int
        var next: Int
    }

    private let connectionsMax: Int
    private let perNetworkMax: Int
    /// The first one has no connection: the circle begins and ends there.
    private var slots = [Slot(previous: 0, next: 0)]
    private var freeSlots: [Int] = []
    private var counts: [ClientNetwork: Int] = [:]

    var count: Int { slots.count - 1 - freeSlots.count }
    var all: [Connection] { slots.compactMap(\.connection) }

    /// None are open.
    init(connectionsMax: Int, perNetworkMax: Int) {
        self.connectionsMax = connectionsMax
        self.perNetworkMax = perNetworkMax
    }

    /// Adds a connection, which waits. Returns its slot.
    mutating func enter(_ connection: Connection, from network: ClientNetwork?) -> Int {
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(Slot(previous: slot, next: slot)) }
        precondition(slot > 0 && slots[slot].connection == nil, "a slot of two connections")
        slots[slot].connection = connection
        slots[slot].network = network
        if let network { counts[network, default: 0] += 1 }
        beginWaiting(slot)
        return slot
    }

    /// The connection that has to be closed now that one has entered from this network, which may
    /// be that one; nil: no limit is exceeded.
    func excess(from network: ClientNetwork?) -> Connection? {
        let isOfNetwork = network.map { counts[$0, default: 0] > perNetworkMax } ?? false
        guard isOfNetwork || count > connectionsMax else { return nil }
        var slot = slots[0].next
        while isOfNetwork, slot != 0, slots[slot].network != network { slot = slots[slot].next }
        return slots[slot].connection
    }

    /// Removes a connection that is closed.
    mutating func leave(_ slot: Int) {
        precondition(slots[slot].connection != nil, "a connection leaves twice")
        endWaiting(slot)
        slots[slot].connection = nil
        freeSlots.append(slot)
        guard let network = slots[slot].network else { return }
        guard let others = counts[network] else {
            preconditionFailure("a connection that was not counted")
        }
        counts[network] = others > 1 ? others - 1 : nil
    }

    /// The connection has no pending request any more; its client is expected to send.
    mutating func beginWaiting(_ slot: Int) {
        guard slots[slot].next == slot else { return }
        let last = slots[0].previous
        (slots[slot].previous, slots[slot].next) = (last, 0)
        slots[last].next = slot
        slots[0].previous = slot
    }

    /// The connection has a pending request.
    mutating func endWaiting(_ slot: Int) {
        precondition(slot > 0, "the circle has a beginning")
        let (previous, next) = (slots[slot].previous, slots[slot].next)
        slots[previous].next = next
        slots[next].previous = previous
        (slots[slot].previous, slots[slot].next) = (slot, slot)
    }
}
