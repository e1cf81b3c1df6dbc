import Containers
import EventLoop
import PresenceCore

// Connections that the loop that accepts has admitted, or refused, for all loops. With one loop
// there is no census: it admits its connections itself (`admit`).

extension ConnectionLoop where Link: ~Copyable {
    /// Takes over a connection that was admitted, from an address of the census.
    mutating func accept(
        _ id: StreamID, from address: AddressBook.Entry, on listener: ListenerKind
    ) {
        let slot = enter(id, .anonymous, on: listener)
        counters.accepted += 1
        connections[slot].address = address
        guard phase == .starting || phase == .serving else {
            return dismiss(slot, .shuttingDown)
        }
        listenForLogin(of: slot)
    }

    /// Takes over a connection that is one too many.
    mutating func refuse(_ id: StreamID, on listener: ListenerKind) {
        let slot = enter(id, .anonymous, on: listener)
        counters.accepted += 1
        turnAway(slot)
    }

    /// Notes that the address of a connection has one less.
    mutating func leaveAddress(of slot: Int) {
        guard let census else { return addresses.leave(connections[slot].address) }
        census.leave(connections[slot].address, of: number.index)
    }

    /// The network of a connection that was admitted.
    func network(of slot: Int) -> ClientNetwork? {
        guard let census else { return addresses.network(connections[slot].address) }
        return census.network(connections[slot].address)
    }

    /// Networks with connections now; of several loops, the first one counts for all.
    var addressCount: Int {
        guard let census else { return addresses.count }
        return number.index == 0 ? census.addressCount : 0
    }
}
