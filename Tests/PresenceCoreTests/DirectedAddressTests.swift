import Testing

@testable import PresenceCore

/// To whom a session has presented itself, without an engine.
@Suite struct `The addresses of a session` {
    private func address(_ account: String, _ device: String? = nil) -> DirectedAddresses.Address {
        DirectedAddresses.Address(
            account: Array(account.utf8), device: device.map { Array($0.utf8) })
    }

    @Test func `are kept once each, by session`() {
        var addresses = DirectedAddresses()
        addresses.insert(address("bob"), of: 1)
        addresses.insert(address("bob", "phone"), of: 1)
        addresses.insert(address("bob"), of: 1)
        addresses.insert(address("bob"), of: 2)
        #expect(addresses[1] == [address("bob"), address("bob", "phone")])
        let counts = addresses.counts.sorted { $0.session < $1.session }
        #expect(counts.map(\.session) == [1, 2])
        #expect(counts.map(\.count) == [2, 1])
        let wasKnown = addresses.remove(address("bob"), of: 1)
        #expect(wasKnown)
        let isKnown = addresses.remove(address("bob"), of: 1)
        #expect(!isKnown)
        #expect(addresses[1] == [address("bob", "phone")])
        #expect(addresses[3].isEmpty)
    }

    @Test func `have a limit, which an address that is known does not meet`() {
        var addresses = DirectedAddresses()
        for number in 0..<Limits.directedAddressesMax {
            #expect(addresses.hasRoom(for: address("p\(number)"), of: 1))
            addresses.insert(address("p\(number)"), of: 1)
        }
        #expect(!addresses.hasRoom(for: address("more"), of: 1))
        #expect(addresses.hasRoom(for: address("p0"), of: 1))
        #expect(addresses.hasRoom(for: address("more"), of: 2))
    }

    @Test func `that a former connection has addressed are removed apart`() {
        var addresses = DirectedAddresses()
        for account in ["bob", "carol"] { addresses.insert(address(account), of: 1) }
        addresses.inherit(1)
        addresses.insert(address("carol"), of: 1)
        addresses.insert(address("dave"), of: 1)
        #expect(addresses.remove(.inherited, of: 1) == [address("bob")])
        #expect(addresses[1] == [address("carol"), address("dave")])
        #expect(addresses.remove(.all, of: 1) == [address("carol"), address("dave")])
        #expect(addresses.counts.isEmpty)
    }

    @Test func `may have been shown another presence until all are shown one`() {
        var addresses = DirectedAddresses()
        addresses.noteShownOtherwise(1)
        let isOther = addresses.noteShownAlike(2)
        #expect(!isOther)
        let wasShownOtherwise = addresses.noteShownAlike(1)
        #expect(wasShownOtherwise)
        addresses.noteShownOtherwise(1)
        _ = addresses.remove(.all, of: 1)
        let isStill = addresses.noteShownAlike(1)
        #expect(!isStill)
    }
}
