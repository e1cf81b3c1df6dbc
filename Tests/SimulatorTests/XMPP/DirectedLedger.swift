/// To what a device presents itself: an account, or a device of it.
struct SimulatedAddress: Hashable, Comparable {
    let account: String
    /// Nil: the account.
    let device: String?

    static func < (a: Self, b: Self) -> Bool {
        (a.account, a.device ?? "") < (b.account, b.device ?? "")
    }
}

/// What XMPP clients have sent to single addresses, so that what is delivered can be compared with
/// it. Each presence begins with a number; a device is named as `account/device`.
final class DirectedLedger {
    enum Kind: Hashable {
        case available(SimulatedAddress)
        case withdrawal(SimulatedAddress)
        /// For all addresses, and for subscribers.
        case hiding
    }

    struct Entry {
        let sender: String
        let kind: Kind
        /// As it presents itself.
        let device: ShownDevice
    }

    /// By number, since the last quiet time: then everything has been delivered.
    private var entries: [Int: Entry] = [:]
    /// By device: the addresses at which it may be in force, and the number that was sent last.
    private var addresses: [String: [SimulatedAddress: Int]] = [:]
    /// By device: the number of the last withdrawal from each address.
    private var withdrawals: [String: [SimulatedAddress: Int]] = [:]
    /// By account: how many stanzas of other clients were sent to it.
    private var sentCounts: [String: Int] = [:]

    func entry(_ number: Int?) -> Entry? { number.flatMap { entries[$0] } }

    /// Something is sent.
    func note(_ number: Int, _ entry: Entry) {
        entries[number] = entry
        switch entry.kind {
        case .available(let address):
            addresses[entry.sender, default: [:]][address] = number
            noteSent(to: address.account)
        case .withdrawal(let address):
            withdrawals[entry.sender, default: [:]][address] = number
            noteSent(to: address.account)
        case .hiding: break
        }
    }

    /// A stanza for a client of an account is sent.
    func noteSent(to account: String) { sentCounts[account, default: 0] += 1 }

    func sentCount(to account: String) -> Int { sentCounts[account] ?? 0 }

    /// The number of the last withdrawal of a device from an address; 0: there was none.
    func lastWithdrawal(of sender: String, from address: SimulatedAddress) -> Int {
        withdrawals[sender]?[address] ?? 0
    }

    /// The number that a device has sent to an address last, of those that may be in force.
    func lastNumber(of sender: String, to address: SimulatedAddress) -> Int? {
        addresses[sender]?[address]
    }

    /// Nothing is on its way any more.
    func rest(inForce: [String: Set<SimulatedAddress>]) {
        entries = [:]
        withdrawals = [:]
        for (sender, sent) in addresses {
            addresses[sender] = sent.filter { inForce[sender]?.contains($0.key) == true }
        }
    }

    /// The service has ended all streams.
    func restart() { rest(inForce: [:]) }
}

/// Which devices have presented themselves to a client, as far as one of its connections was told.
struct DirectedSight {
    /// The numbers of what a client was told last of a device, by how it was addressed.
    struct Told {
        var byAccount: Int?
        var byDevice: Int?

        var isEmpty: Bool { byAccount == nil && byDevice == nil }
    }

    /// By device: those that the client believes to be there.
    private(set) var told: [String: Told] = [:]
    /// By device: those whose end the client was told otherwise than by a withdrawal, since the
    /// last quiet time.
    private(set) var ended: [String: Told] = [:]
    /// By device: the highest number that it was told.
    private var newest: [String: Int] = [:]
    private var farewells: [String: Int] = [:]
    /// Of whose end the service may tell the client, whether or not it is available then.
    private var owed: Set<String> = []

    /// The number of the last farewell with which a device withdrew itself; nil: it had none.
    func farewell(of device: String) -> Int? { farewells[device] }

    func number(of device: String) -> Int { newest[device] ?? 0 }
    func isOwed(_ device: String) -> Bool { owed.contains(device) }

    /// A device is available for an address of the client. Returns whether that is new.
    mutating func begin(_ device: String, byDevice: Bool, _ number: Int) -> Bool {
        let isNew = number > self.number(of: device)
        if byDevice {
            told[device, default: Told()].byDevice = number
        } else {
            told[device, default: Told()].byAccount = number
        }
        ended[device] = nil
        newest[device] = number
        owed.insert(device)
        return isNew
    }

    /// A device is available for all that see it: what it has said to the client counts no more.
    mutating func supersede(_ device: String) { told[device] = nil }

    /// A device has withdrawn itself, perhaps with a farewell.
    mutating func withdraw(_ device: String, _ farewell: Int? = nil) {
        farewells[device] = farewell
        told[device] = nil
        owed.remove(device)
    }

    /// A device is gone. For subscribers the service may owe its end even so.
    mutating func end(_ device: String, isStranger: Bool) {
        guard isStranger else {
            told[device] = nil
            return
        }
        ended[device] = told.removeValue(forKey: device)
        owed.remove(device)
    }

    /// The client is not available any more: it is not told of those that addressed its account.
    mutating func hide() {
        func forget(_ told: Told) -> Told? {
            told.byDevice.map { Told(byAccount: nil, byDevice: $0) }
        }
        told = told.compactMapValues(forget)
        ended = ended.compactMapValues(forget)
    }

    mutating func rest() { ended = [:] }
}
