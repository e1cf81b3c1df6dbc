import Containers

/// A change of an account that a peer has requested, with its names resolved.
enum Change {
    case subscribe(Subscribe<[AccountHandle]>)
    case unsubscribe(Unsubscribe<[AccountHandle]>)
    case publish(Publish<[UInt8]>)
    case clear(EventType)
    case relate(AccountHandle, ContactAction)
    case setVisibility(Visibility?)
    case setDevice([UInt8], DeviceChange)

    /// The accounts that it needs besides its own.
    var others: [AccountHandle] {
        switch self {
        case .subscribe(let request): request.publishers
        case .unsubscribe(let request): request.publishers ?? []
        case .publish, .clear, .setVisibility, .setDevice: []
        case .relate(let contact, _): [contact]
        }
    }

    /// The account with which it changes a relationship.
    var contact: AccountHandle? {
        guard case .relate(let contact, _) = self else { return nil }
        return contact
    }
}

/// A change that has been checked and recorded, and is applied once it is durable.
struct PendingChange {
    let change: Change
    /// The connection that waits for the response.
    let connection: ConnectionID
    /// The peer that requested it; it may have disconnected when the change is applied.
    let author: Caller
    /// When it was checked: what it makes expires its time after that.
    let requested: Moment
    /// The account that it changes, and those that it needs besides.
    let accounts: HeldAccounts
    /// Publishers whose fans have a place reserved for the account; the contact whose list of
    /// requests has one.
    var reserved: [AccountHandle] = []
    /// The device that publishes a status.
    var origin: Origin?
    /// Where the push addresses lead that it takes or leaves: no other change is about them.
    var endpoints: [[UInt8]] = []
    /// Removals of what it replaces and has expired meanwhile: to be stored if it fails.
    var removalsOnFailure: [Record] = []

    /// A device; its session may have ended when the change is applied.
    struct Origin {
        var client: ClientKind
        var device: [UInt8]
    }

    /// The account that it changes.
    var account: AccountHandle { accounts.account }
}

extension Engine {
    /// How many changes wait for the store.
    public var changesInFlight: Int { inFlight.count + sendsInFlight.count + discards.count }

    /// Passes a record to the store; the change follows when it is durable.
    mutating func propose(
        _ change: Change, _ record: Record, of account: AccountHandle,
        for connection: ConnectionID, reserving reserved: [AccountHandle] = [],
        origin: PendingChange.Origin? = nil, endpoints: [[UInt8]] = [], at now: Moment,
        into effects: inout Effects
    ) {
        let pending = PendingChange(
            change: change, connection: connection, author: caller(of: connection),
            requested: now, accounts: hold(account, change.others), reserved: reserved,
            origin: origin, endpoints: endpoints)
        effects.persist(record, ticket: inFlight.add(pending))
    }

    /// Applies what the store has made durable, and then what has waited for it.
    ///
    /// Tickets may be reported in any order, each once, by this or by `failed`.
    public mutating func committed(
        _ ticket: Ticket, at now: Moment, into effects: inout Effects
    ) {
        sequence.noteCommit(ofTicket: ticket.number)
        sequence.note(now.mono)
        forgetRetired(after: effects)
        if let send = sendsInFlight.take(ticket) {
            applySend(send, under: ticket, at: now, into: &effects)
            return reserveSequence(into: &effects)
        }
        if let handOver = undelivered.take(ticket) { return applyHandOver(handOver) }
        if let discard = discards.take(ticket) {
            effects.answer(discard.connection, discard.answer)
            return
        }
        guard let change = inFlight.take(ticket) else { return }
        switch change.change {
        case .subscribe(let request):
            applySubscribe(change, request, at: now, into: &effects)
        case .unsubscribe(let request):
            applyUnsubscribe(change, request, at: now, into: &effects)
        case .publish(let request):
            applyPublish(
                request, of: change.account, from: change.connection, origin: change.origin,
                requested: change.requested, at: now, into: &effects)
        case .clear(let type):
            applyClear(change, type, at: now, into: &effects)
        case .relate(let contact, let action):
            applyRelate(change, to: contact, action, at: now, into: &effects)
        case .setVisibility(let visibility):
            applyVisibility(change, visibility, at: now, into: &effects)
        case .setDevice(let device, let labels):
            applyDevice(change, device, labels, into: &effects)
        }
        settle(change, at: now, into: &effects)
        reserveSequence(into: &effects)
    }

    /// Rejects what the store could not make durable. Nothing has changed.
    public mutating func failed(
        _ ticket: Ticket, at now: Moment, into effects: inout Effects
    ) {
        forgetRetired(after: effects)
        if let send = sendsInFlight.take(ticket) { return cancelSend(send, into: &effects) }
        if let handOver = undelivered.take(ticket) { return cancelHandOver(handOver, at: now) }
        if let discard = discards.take(ticket) { return failed(discard, into: &effects) }
        guard let change = inFlight.take(ticket) else { return }
        effects.items.append(.reject(change.connection, Rejection(.storeUnavailable)))
        for removal in change.removalsOnFailure { effects.persist(removal) }
        settle(change, at: now, into: &effects)
    }

    // A change in flight was passed to the store before the removal of what expires meanwhile. What
    // the change writes under the same key must not be removed, unless the change fails: then the
    // old row is still there, and a clock that is set back would revive it.

    /// Has an expired status removed from the store.
    mutating func persistExpiry(
        ofStatusOf account: AccountHandle, _ type: EventType, into effects: inout Effects
    ) {
        let removal = Record.removeStatus(account: account, type: type)
        if case .publish(let request)? = inFlight.change(of: account)?.change,
            request.type == type
        {
            inFlight.add(removalOnFailure: removal, of: account)
        } else {
            effects.persist(removal)
        }
    }

    /// Has expired subscriptions removed from the store.
    mutating func persistExpiry(
        ofSubscriptionsOf account: AccountHandle, _ type: EventType,
        to publishers: [AccountHandle], into effects: inout Effects
    ) {
        var renewed: [AccountHandle] = []
        var others = publishers
        if case .subscribe(let request)? = inFlight.change(of: account)?.change,
            request.type == type
        {
            let requested = Set(request.publishers)
            renewed = publishers.filter { requested.contains($0) }
            others.removeAll { requested.contains($0) }
            if !renewed.isEmpty {
                inFlight.add(
                    removalOnFailure: .removeSubscriptions(
                        subscriber: account, Unsubscribe(type: type, publishers: renewed)),
                    of: account)
                keepPlaces(of: account, type, among: renewed)
            }
        }
        if !others.isEmpty {
            effects.persist(
                .removeSubscriptions(
                    subscriber: account, Unsubscribe(type: type, publishers: others)))
        }
    }

    private mutating func settle(
        _ change: PendingChange, at now: Moment, into effects: inout Effects
    ) {
        inFlight.end(change)
        releaseReserved(of: change)
        resumeDeferred(of: change.account, at: now, into: &effects)
        release(change.accounts)
    }

    /// Gives back the places that were reserved for a change.
    private mutating func releaseReserved(of change: PendingChange) {
        for account in change.reserved {
            switch change.change {
            case .subscribe(let request): joining.add(-1, to: key(request.type, account))
            case .relate: requestsInFlight.add(-1, to: account.index)
            case .unsubscribe, .publish, .clear, .setVisibility, .setDevice: break
            }
        }
    }

    /// Makes a change, or defers it if its account, or the pair or a push address that it is
    /// about, has one in flight.
    mutating func make(
        _ change: Change, of account: AccountHandle, from connection: ConnectionID,
        at now: Moment, into effects: inout Effects
    ) throws(Rejection) {
        let endpoints = endpoints(of: change, account)
        guard let blocking = inFlight.blocking(account, change.contact, endpoints) else {
            return try begin(change, of: account, from: connection, at: now, into: &effects)
        }
        deferred.append(
            DeferredChange(
                connection: connection, accounts: hold(account, change.others), change: change),
            behind: blocking)
    }

    private mutating func begin(
        _ change: Change, of account: AccountHandle, from connection: ConnectionID,
        at now: Moment, into effects: inout Effects
    ) throws(Rejection) {
        switch change {
        case .subscribe(let request):
            try subscribe(account, request, from: connection, at: now, into: &effects)
        case .unsubscribe(let request):
            unsubscribe(account, request, from: connection, at: now, into: &effects)
        case .publish(let request):
            try publish(account, request, from: connection, at: now, into: &effects)
        case .clear(let type):
            try clear(account, type, from: connection, at: now, into: &effects)
        case .relate(let contact, let action):
            try relate(account, to: contact, action, from: connection, at: now, into: &effects)
        case .setVisibility(let visibility):
            try setVisibility(account, visibility, from: connection, at: now, into: &effects)
        case .setDevice(let device, let labels):
            try setDevice(device, of: account, labels, from: connection, at: now, into: &effects)
        }
    }

    /// Continues with the changes that have waited for one of `account`, until one is in flight.
    private mutating func resumeDeferred(
        of account: AccountHandle, at now: Moment, into effects: inout Effects
    ) {
        while !inFlight.isBusy(account), let next = deferred.popFirst(of: account) {
            defer { release(next.accounts) }
            // A peer that has disconnected meanwhile gets no response; so its change is not made.
            // That of a caller in process was removed when the caller was lost.
            guard isLoggedIn(next.connection) else { continue }
            do throws(Rejection) {
                try make(
                    next.change, of: next.accounts.account, from: next.connection, at: now,
                    into: &effects)
            } catch {
                effects.items.append(.reject(next.connection, error))
            }
        }
    }
}
