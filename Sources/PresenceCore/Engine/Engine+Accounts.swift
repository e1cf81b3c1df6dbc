// Names become handles here, and handles are given back when nothing refers to them.
//
// A handle may be in effects until the caller has carried them out. So accounts that lose their
// last reference in one call are forgotten at the beginning of another, when the caller's effects
// are empty, unless they have a new reference by then.

import Containers

extension Engine {
    /// The account with this name, known or new.
    ///
    /// A new account lives until the end of the call, unless something needs it by then.
    mutating func intern(_ name: Span<UInt8>) throws(Rejection) -> AccountHandle {
        guard let account = internIfRoom(name) else { throw noRoom }
        return account
    }

    /// The account that a request names, known or new.
    mutating func intern(
        _ name: ByteRange, _ texts: TextSource
    ) throws(Rejection) -> AccountHandle {
        guard let account = texts.withBytes(name, { internIfRoom($0) }) else { throw noRoom }
        return account
    }

    private mutating func internIfRoom(_ name: Span<UInt8>) -> AccountHandle? {
        if let known = find(name) { return known }
        guard names.count < settings.limits.accountsMax else { return nil }
        return addAccount(name)
    }

    private var noRoom: Rejection {
        Rejection(
            .overloaded, field: .account, limit: settings.limits.accountsMax,
            retryAfterSeconds: 60)
    }

    /// The accounts that a request names, known or new, in its order.
    mutating func intern(
        _ names: NameList, _ texts: TextSource
    ) throws(Rejection) -> [AccountHandle] {
        var accounts: [AccountHandle] = []
        accounts.reserveCapacity(Int(names.count))
        for name in texts.names(names) { accounts.append(try intern(name, texts)) }
        return accounts
    }

    /// A request to subscribe with the accounts that it names.
    mutating func intern(
        _ request: Subscribe<NameList>, _ texts: TextSource
    ) throws(Rejection) -> Subscribe<[AccountHandle]> {
        Subscribe(
            type: request.type, expirySeconds: request.expirySeconds,
            publishers: try intern(request.publishers, texts), answer: request.answer)
    }

    /// A request to unsubscribe with the accounts that it names.
    mutating func intern(
        _ request: Unsubscribe<NameList>, _ texts: TextSource
    ) throws(Rejection) -> Unsubscribe<[AccountHandle]> {
        var interned = Unsubscribe<[AccountHandle]>(type: request.type)
        if let names = request.publishers { interned.publishers = try intern(names, texts) }
        return interned
    }

    /// Creates an account for a name that has none.
    mutating func addAccount(_ name: Span<UInt8>) -> AccountHandle {
        let number = names.intern(name)
        precondition(number <= Watcher.accountMax, "more accounts than the index can number")
        firstSession.reserveEighth()
        while accounts.count <= Int(number) {
            accounts.append(Account())
            firstSession.append(none)
        }
        let before = accounts[Int(number)].generation
        accounts[Int(number)] = Account()
        accounts[Int(number)].generation = before &+ 1
        interned.append(number)
        return AccountHandle(index: number)
    }

    /// The account with this name, if there is one.
    func find(_ name: Span<UInt8>) -> AccountHandle? {
        names.find(name).map { AccountHandle(index: $0) }
    }

    /// The account that a request names, if there is one.
    func find(_ name: ByteRange, _ texts: TextSource) -> AccountHandle? {
        texts.withBytes(name) { find($0) }
    }

    /// Whether an account with this name has logged in, or something is kept for it: then it
    /// belongs to a user. That others have named it is not enough.
    public func belongsToSomebody(_ name: Span<UInt8>) -> Bool {
        guard let account = find(name) else { return false }
        let known = accounts[Int(account.index)]
        return known.lastValue != 0 || known.sessionCount != 0 || known.statusCount != 0
            || known.visibility != nil || index.count(of: account) != 0
            || relations.contactCount(of: account) != 0 || devices.mention(account.index)
    }

    /// Appends the name of an account.
    public func appendName(of account: AccountHandle, to bytes: inout [UInt8]) {
        names.append(account.index, to: &bytes)
    }

    /// The name of an account.
    public func name(of account: AccountHandle) -> [UInt8] {
        var name: [UInt8] = []
        appendName(of: account, to: &name)
        return name
    }

    /// Forgets the accounts that earlier calls left without a reference, if their effects have been
    /// carried out. While they have not, records among them may name such an account.
    mutating func forgetRetired(after effects: borrowing Effects) {
        guard !retired.isEmpty, effects.items.isEmpty else { return }
        for number in retired where names.contains(number) && !isReferenced(number) {
            noteForgotten(number)
            names.remove(number)
            if !sightChanges.isEmpty { sightChanges[number] = nil }
        }
        // A whole restore has many of them, a command few.
        retired.removeAll(keepingCapacity: retired.capacity <= Self.retiredCapacityMax)
    }

    /// The number of accounts for which empty lists of `interned` and `retired` keep room.
    private static var retiredCapacityMax: Int { 8_192 }

    /// Has the accounts that were interned for a call forgotten after it, unless they are needed.
    mutating func retireInterned() {
        guard !interned.isEmpty else { return }
        if retired.isEmpty, interned.capacity > Self.retiredCapacityMax {
            return swap(&retired, &interned)
        }
        retired.append(contentsOf: interned)
        interned.removeAll(keepingCapacity: interned.capacity <= Self.retiredCapacityMax)
    }

    /// Whether the account is needed, or is remembered for a while although it is not, as are those
    /// whose devices have labels.
    ///
    /// Inlined, as is `isNeeded`: see `caller`.
    @inline(__always)
    func isReferenced(_ number: UInt32) -> Bool {
        accounts[Int(number)].lastValue != 0 || isNeeded(number) || devices.mention(number)
    }

    /// Whether something needs the account: a request, a session, a subscription or a subscriber.
    @inline(__always)
    func isNeeded(_ number: UInt32) -> Bool {
        let account = accounts[Int(number)]
        return account.holdCount > 0
            || account.visibility != nil || relations.mention(AccountHandle(index: number))
            || account.presenceTopic != none || !account.customTopics.isEmpty
            || firstSession[Int(number)] != none || hidden[number] != nil
            || index.count(of: AccountHandle(index: number)) > 0 || inboxes.mention(number)
    }

    /// Keeps the accounts that a change needs, until `release`.
    mutating func hold(_ account: AccountHandle, _ others: [AccountHandle]) -> HeldAccounts {
        accounts[Int(account.index)].holdCount += 1
        for other in others { accounts[Int(other.index)].holdCount += 1 }
        return HeldAccounts(account: account, others: others)
    }

    /// Keeps the accounts no longer.
    mutating func release(_ held: HeldAccounts) {
        release(held.account)
        for other in held.others { release(other) }
    }

    private mutating func release(_ account: AccountHandle) {
        let number = Int(account.index)
        precondition(accounts[number].holdCount > 0, "released more often than held")
        accounts[number].holdCount -= 1
        retired.append(account.index)
    }
}

/// Accounts that are not forgotten, because something that waits needs them.
///
/// Only `Engine.hold` makes one, so that nothing can wait without. `release` ends it.
struct HeldAccounts {
    /// The account that a change is of.
    let account: AccountHandle
    /// The others that it needs.
    let others: [AccountHandle]

    fileprivate init(account: AccountHandle, others: [AccountHandle]) {
        self.account = account
        self.others = others
    }
}

extension Effects {
    /// Copies the name of `account` and returns its range.
    mutating func copyName(of account: UInt32, from engine: borrowing Engine) -> ByteRange {
        let start = bytes.count
        engine.names.append(account, to: &bytes)
        return ByteRange(start: Int32(start), count: Int32(bytes.count - start))
    }
}
