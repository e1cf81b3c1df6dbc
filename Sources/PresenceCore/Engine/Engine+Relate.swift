// Relationships: requests to see an account, and their acceptance. RFC 6121, sections 2 and 3.
//
// The rules are in `PairChange`. Both sides of a pair change in one write, so they can never
// disagree, and a pair has at most one change in flight, whichever side makes it.

import Containers

extension Engine {
    /// What an account and another keep of each other.
    func pair(_ account: AccountHandle, _ contact: AccountHandle) -> Pair {
        Pair(own: side(account, contact), other: side(contact, account))
    }

    private func side(_ account: AccountHandle, _ contact: AccountHandle) -> PairSide {
        guard let relation = relations.relation(of: account, to: contact) else {
            return PairSide()
        }
        var label = relations.longLabel(of: account, to: contact) ?? []
        if relation.label != .none { strings.append(relation.label, to: &label) }
        return PairSide(
            seen: relation.seen, request: relations.request(of: account, to: contact),
            isListed: relation.flags.contains(.isListed),
            approvesBefore: relation.flags.contains(.approvesBefore),
            label: ContactLabel(stored: label))
    }

    /// The bytes of all labels of an account. O(contacts).
    private func labelBytes(of account: AccountHandle) -> Int {
        relations.all(of: account).reduce(0) { sum, relation in
            guard relation.label == .none else {
                return sum + strings.byteCount(of: relation.label)
            }
            let contact = AccountHandle(index: relation.contact)
            return sum + (relations.longLabel(of: account, to: contact)?.count ?? 0)
        }
    }

    /// Checks what an account wants of its relationship with another and has it stored.
    mutating func relate(
        _ account: AccountHandle, to contact: AccountHandle, _ action: ContactAction,
        from connection: ConnectionID, at now: Moment, into effects: inout Effects
    ) throws(Rejection) {
        guard contact != account else { throw Rejection(.notPermitted, field: .contact) }
        let before = pair(account, contact)
        let change = PairChange(before, action)
        // To check the quotas, the lists of both are walked.
        effects.visit(relations.count(of: account) + relations.count(of: contact))
        try checkQuotas(of: account, contact, before, change.pair)
        let isContact = relations.relation(of: account, to: contact)?.flags.isContact == true
        if action == .remove, !isContact {
            throw Rejection(.unknownContact, field: .contact)
        }
        try checkPublishPace(of: account, at: now)
        guard change.pair != before else {
            return apply(
                change, from: before, of: account, contact, connection, at: now, into: &effects)
        }
        let isNewRequest = change.pair.own.seen == .pending && before.own.seen == .none
        if isNewRequest { requestsInFlight.add(1, to: contact.index) }
        propose(
            .relate(contact, action), .putRelations(records(of: account, contact, before, change)),
            of: account, for: connection, reserving: isNewRequest ? [contact] : [], at: now,
            into: &effects)
    }

    private func checkQuotas(
        of account: AccountHandle, _ contact: AccountHandle, _ before: Pair, _ after: Pair
    ) throws(Rejection) {
        let contacts = relations.contactCount(of: account)
        let isContact = relations.relation(of: account, to: contact)?.flags.isContact == true
        let contactsMax = settings.limits.contactsPerAccountMax
        if after.own.isListed, !isContact, contacts >= contactsMax {
            throw Rejection(.contactQuota, limit: contactsMax, count: contacts)
        }
        let growth = after.own.label.bytes.count - before.own.label.bytes.count
        let labelBytesMax = contactsMax * ContactLabel.bytesOnAverageMax
        if growth > 0 {
            let bytes = labelBytes(of: account) + growth
            guard bytes <= labelBytesMax else {
                throw Rejection(.contactQuota, field: .name, limit: labelBytesMax, count: bytes)
            }
        }
        if after.own.seen == .pending, before.own.seen == .none {
            try checkRequestQuota(of: contact, askedBy: account)
        }
    }

    /// Strangers fill half of the requests that an account has to answer, so that there is room for
    /// those whom it has among its contacts.
    private func checkRequestQuota(
        of contact: AccountHandle, askedBy account: AccountHandle
    ) throws(Rejection) {
        let inFlight = requestsInFlight[contact.index, default: 0]
        let requestsMax = settings.limits.requestsPerAccountMax
        guard relations.requestCount(of: contact) + inFlight < requestsMax else {
            throw Rejection(.requestQuota, field: .contact, limit: requestsMax)
        }
        let isKnown = relations.relation(of: contact, to: account)?.flags.isContact == true
        let strangersMax = (requestsMax + 1) / 2
        guard !isKnown, relations.requestCount(of: contact) + inFlight >= strangersMax else {
            return
        }
        // Those in flight count as strangers: they are few, and it errs on the safe side.
        guard relations.strangersAsking(contact) + inFlight < strangersMax else {
            throw Rejection(.requestQuota, field: .contact, limit: strangersMax)
        }
    }

    private func records(
        of account: AccountHandle, _ contact: AccountHandle, _ before: Pair, _ change: PairChange
    ) -> [RelationRecord] {
        var records: [RelationRecord] = []
        if change.pair.own != before.own {
            records.append(RelationRecord(owner: account, contact: contact, side: change.pair.own))
        }
        if change.pair.other != before.other {
            records.append(
                RelationRecord(owner: contact, contact: account, side: change.pair.other))
        }
        return records
    }

    /// Applies what has been stored.
    mutating func applyRelate(
        _ pending: PendingChange, to contact: AccountHandle, _ action: ContactAction,
        at now: Moment, into effects: inout Effects
    ) {
        let before = pair(pending.account, contact)
        apply(
            PairChange(before, action), from: before, of: pending.account, contact,
            pending.connection, at: now, into: &effects)
    }

    private mutating func apply(
        _ change: PairChange, from before: Pair, of account: AccountHandle,
        _ contact: AccountHandle, _ connection: ConnectionID, at now: Moment,
        into effects: inout Effects
    ) {
        let shownBefore = (
            listEntry(account, contact, before.own, before.other),
            listEntry(contact, account, before.other, before.own)
        )
        // Or is sent the state again.
        if before.own.seen == .active, change.pair.own.seen != .active || change.isAnswered {
            finishFanOuts(of: contact, for: account, into: &effects)
        }
        if before.other.seen == .active, change.pair.other.seen != .active {
            finishFanOuts(of: account, for: contact, into: &effects)
        }
        set(change.pair, of: account, contact, at: now)
        for word in change.words(from: before) { tallies.count(word) }
        effects.contacts.append(
            contactEntry(contact, change.pair.own, change.pair.other, into: &effects))
        effects.answer(connection, .related(contact: effects.contacts.count - 1))
        let shown = (
            listEntry(account, contact, change.pair.own, change.pair.other),
            listEntry(contact, account, change.pair.other, change.pair.own)
        )
        notify(
            account, of: contact, change.pair.own, change.pair.other,
            words: change.isAnswered ? [.subscribed] : [], isListChanged: shown.0 != shownBefore.0,
            but: connection, into: &effects)
        notify(
            contact, of: account, change.pair.other, change.pair.own, words: change.sent,
            isListChanged: shown.1 != shownBefore.1, but: connection, into: &effects)
        settleSight(
            of: contact, by: account, before.own.seen, change.pair.own.seen,
            again: change.isAnswered, at: now, into: &effects)
        settleSight(
            of: account, by: contact, before.other.seen, change.pair.other.seen, again: false,
            at: now, into: &effects)
        retired.append(account.index)
        retired.append(contact.index)
    }

    // MARK: Tables

    /// Keeps what both sides of a pair say.
    private mutating func set(
        _ pair: Pair, of account: AccountHandle, _ contact: AccountHandle, at now: Moment
    ) {
        set(pair.own, mirror: pair.other, of: account, contact)
        set(pair.other, mirror: pair.own, of: contact, account)
        grant(pair.own.seen, account, contact, at: now.wall)
        grant(pair.other.seen, contact, account, at: now.wall)
    }

    private mutating func set(
        _ side: PairSide, mirror: PairSide, of account: AccountHandle, _ contact: AccountHandle
    ) {
        if let old = relations.relation(of: account, to: contact), old.label != .none {
            strings.remove(old.label)
        }
        var relation = Relation(contact: contact.index)
        relation.flags = Relation.Flags(side, mirror: mirror)
        let label = side.label.bytes
        let isLong = label.count > ByteSlab.byteCountMax
        if !label.isEmpty, !isLong { relation.label = strings.insert(label.span) }
        relations.set(longLabel: isLong ? label : nil, of: account, to: contact)
        relations.set(relation, of: account)
        relations.set(
            request: side.seen == .pending ? side.request : .none, of: account, to: contact)
    }

    private mutating func grant(
        _ state: RelationState, _ account: AccountHandle, _ contact: AccountHandle, at now: Wall
    ) {
        if state == .active {
            let topic = makeTopic(.presence, of: contact)
            guard !index.leases(on: topic, by: account).contains(.approved) else { return }
            index.approve(topic, for: account, created: now)
        } else if let topic = topic(.presence, of: contact) {
            index.endApproved(topic, of: account)
        }
    }

    /// Restores what one account keeps of another; the other's row may come before or after.
    public mutating func restoreRelation(
        of owner: AccountHandle, to contact: AccountHandle, _ side: PairSide, at now: Moment
    ) {
        guard owner != contact else { return }
        var pair = pair(owner, contact)
        pair.own = side
        if pair.other.seen != .none { pair.own.approvesBefore = false }
        if pair.own.approvesBefore { pair.own.isListed = true }
        if !pair.own.isListed { pair.own.label = .none }
        if side.seen != .none { pair.other.approvesBefore = false }
        set(pair, of: owner, contact, at: now)
    }

    /// Restores which of its subscribers see an account.
    public mutating func restoreVisibility(of account: AccountHandle, _ visibility: Visibility) {
        accounts[Int(account.index)].visibility = visibility
    }
}

extension Relation {
    /// Whether the account sees the contact.
    var seen: RelationState {
        flags.contains(.sees) ? .active : flags.contains(.asks) ? .pending : .none
    }
}

extension Relation.Flags {
    init(_ side: PairSide, mirror: PairSide) {
        self = []
        if side.isListed { insert(.isListed) }
        if side.approvesBefore { insert(.approvesBefore) }
        switch side.seen {
        case .none: break
        case .pending: insert(.asks)
        case .active: insert(.sees)
        }
        switch mirror.seen {
        case .none: break
        case .pending: insert(.isAsked)
        case .active: insert(.isSeen)
        }
    }
}
