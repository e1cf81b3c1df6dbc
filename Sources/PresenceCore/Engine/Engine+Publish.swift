import Containers

extension Engine {
    /// Sets a status: immediately, or, if it is durable, once it is on disk.
    mutating func publish(
        _ account: AccountHandle, _ request: Publish<[UInt8]>, from connection: ConnectionID,
        at now: Moment, into effects: inout Effects
    ) throws(Rejection) {
        try checkPublishPace(of: account, at: now)
        try checkStatusQuota(of: account, request.type)
        let record = Record.putStatus(
            account: account, request.with(ext: request.ext.map { effects.copy($0) }),
            expires: now.expiry(afterSeconds: request.expirySeconds).wall)
        let origin = origin(of: connection)
        if request.audience == .everybody {
            return propose(
                .publish(request), record, of: account, for: connection, origin: origin, at: now,
                into: &effects)
        }
        effects.persist(record)
        applyPublish(
            request, of: account, from: connection, origin: origin, requested: now, at: now,
            into: &effects)
    }

    mutating func checkPublishPace(
        of account: AccountHandle, at now: Moment
    ) throws(Rejection) {
        try accounts[Int(account.index)].publishes.spend(settings.publishPace, at: now.mono)
    }

    private func checkStatusQuota(
        of account: AccountHandle, _ type: EventType
    ) throws(Rejection) {
        let limit = settings.limits.statusesPerAccountMax
        let count = Int(accounts[Int(account.index)].statusCount)
        guard count >= limit else { return }
        if let topic = topic(type, of: account), topics[topic.index].status != none { return }
        throw Rejection(.statusQuota, field: .type, limit: limit, count: count)
    }

    private func origin(of connection: ConnectionID) -> PendingChange.Origin? {
        guard case .client(let session, _) = caller(of: connection) else { return nil }
        return PendingChange.Origin(
            client: sessions[session].client, device: strings.bytes(of: sessions[session].device))
    }

    /// Puts a status in force and notifies the subscribers.
    mutating func applyPublish(
        _ request: Publish<[UInt8]>, of account: AccountHandle, from connection: ConnectionID,
        origin: PendingChange.Origin?, requested: Moment, at now: Moment,
        into effects: inout Effects
    ) {
        let expiry = requested.expiry(afterSeconds: request.expirySeconds)
        let topic = makeTopic(request.type, of: account)
        setStatus(
            of: topic, value: request.value, ext: request.ext, audience: request.audience,
            deadline: expiry.mono)
        var draft = EventDraft(value: request.value, cause: .publish)
        draft.origin = origin.map {
            DeviceEntry(client: $0.client, name: effects.copy($0.device), reach: .connection)
        }
        draft.ext = request.ext.map { effects.copy($0) }
        let own: OwnReceivers =
            request.ownSessions == .included ? .allBut(connection) : .resources(but: connection)
        let answer = effects.answers.count
        effects.answer(connection, .published(seq: 0, time: now.wall, expires: expiry.wall))
        let seq = emit(draft, on: topic, alsoTo: own, at: now, into: &effects)
        effects.answers[answer] = .published(seq: seq, time: now.wall, expires: expiry.wall)
    }

    /// Makes this the status of a topic, whatever it was before.
    mutating func setStatus(
        of topic: TopicHandle, value: Int32, ext: [UInt8]?, audience: Audience, deadline: Mono
    ) {
        let known = topics[topic.index].status
        if known != none {
            statuses.replace(
                known, value: value, ext: ext, audience: audience, deadline: deadline)
            wheel.reschedule(statuses[known].timer, at: deadline.milliseconds)
            return
        }
        let number = statuses.insert(
            Status(
                topic: topic.index, value: value, ext: ext, audience: audience,
                deadline: deadline, timer: .none))
        statuses.setTimer(
            wheel.schedule(Deadline.status(number).payload, at: deadline.milliseconds), of: number)
        topics[topic.index].status = number
        accounts[Int(topics[topic.index].account)].statusCount += 1
    }

    /// Has the removal of a status stored, if there is one.
    mutating func clear(
        _ account: AccountHandle, _ type: EventType, from connection: ConnectionID,
        at now: Moment, into effects: inout Effects
    ) throws(Rejection) {
        try checkPublishPace(of: account, at: now)
        guard let topic = topic(type, of: account), topics[topic.index].status != none else {
            return effects.answer(connection, .cleared(.nothing))
        }
        propose(
            .clear(type), .removeStatus(account: account, type: type), of: account,
            for: connection, at: now, into: &effects)
    }

    /// Applies what has been stored, unless the status has expired meanwhile.
    mutating func applyClear(
        _ change: PendingChange, _ type: EventType, at now: Moment, into effects: inout Effects
    ) {
        guard let topic = topic(type, of: change.account), topics[topic.index].status != none
        else { return effects.answer(change.connection, .cleared(.nothing)) }
        wheel.cancel(statuses[topics[topic.index].status].timer)
        effects.answer(change.connection, .cleared(.status))
        endStatus(of: topic, cause: .cleared, at: now, into: &effects)
    }

    /// Ends a status whose deadline is no longer in the wheel, and notifies the subscribers.
    mutating func endStatus(
        of topic: TopicHandle, cause: Cause, at now: Moment, into effects: inout Effects
    ) {
        let status = topics[topic.index].status
        precondition(statuses[status].topic == topic.index, "the status of another topic")
        statuses.remove(status)
        topics[topic.index].status = none
        accounts[Int(topics[topic.index].account)].statusCount -= 1
        emit(
            EventDraft(value: ownValue(of: topic), cause: cause), on: topic, at: now,
            into: &effects)
        releaseIfIdle(topic)
    }
}
