import Containers

/// Passwords that are compared, by the network that they were typed at, and those that wait for the
/// results of others: which of these is begun depends on whether they were right.
struct PasswordComparisons {
    private struct Network {
        /// On the thread for that.
        var comparing = 0
        var waiting = Queue<PasswordWork>()
    }

    /// Only of those with some. Of connections without a network, those are of one.
    private var networks: [ClientNetwork?: Network] = [:]

    /// Adds a password, which waits for its turn.
    mutating func add(_ work: PasswordWork, of network: ClientNetwork?) {
        networks[network, default: Network()].waiting.append(work)
    }

    /// The next one to be compared; nil: none waits, or `countMax` are being compared.
    mutating func next(of network: ClientNetwork?, countMax: Int) -> PasswordWork? {
        guard let comparing = networks[network]?.comparing, comparing < countMax,
            let work = networks[network]?.waiting.popFirst()
        else { return nil }
        networks[network]?.comparing += 1
        return work
    }

    /// One of them has been compared, or is not.
    mutating func end(of network: ClientNetwork?) {
        guard let own = networks[network], own.comparing > 0 else {
            preconditionFailure("a comparison ends that has not begun")
        }
        if own.comparing == 1 && own.waiting.isEmpty {
            networks[network] = nil
        } else {
            networks[network]?.comparing -= 1
        }
    }

    /// Networks with some.
    var networkCount: Int { networks.count }
}
