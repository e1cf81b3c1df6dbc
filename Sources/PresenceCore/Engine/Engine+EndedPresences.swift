// What is sent to a session that has missed the end of a device, or of the sight of a publisher.

import Containers

extension Engine {
    /// Notes which device the next event ends, if it has receivers. Only XMPP clients are sent the
    /// end of each device.
    mutating func noteEnd(
        of origin: DeviceEntry, began: SessionID, isDirected: Bool, on topic: TopicHandle,
        in effects: Effects
    ) {
        guard resourceCount > 0,
            hasReceivers(topic, viewers(of: topic), .resources(but: nil))
        else { return }
        let name = Int(origin.name.start)..<Int(origin.name.start + origin.name.count)
        note(
            .device(
                Array(effects.bytes[name]), origin.client, began: began.ordinal,
                isDirected: isDirected),
            of: topic, by: sequence.upcoming)
    }

    /// Notes that the newest event of a topic ends the sight of its publisher for its receivers,
    /// and the devices in `late`, which ended before.
    mutating func noteEndOfSight(of topic: TopicHandle, alsoEnding late: [EndedPresenceLog.Entry]) {
        guard topics[topic.index].type == .presence else { return }
        let seq = topics[topic.index].seq
        note(.sight, of: topic, by: seq)
        for entry in late { note(entry.part, of: topic, by: seq) }
        guard resourceCount > 0 else { return }
        for session in shownSessions(of: AccountHandle(index: topics[topic.index].account)) {
            let record = sessions[session]
            note(
                .device(
                    strings.bytes(of: record.device), record.client,
                    began: record.shownSince.ordinal, isDirected: false),
                of: topic, by: seq)
        }
    }

    private mutating func note(_ part: EndedPresenceLog.Part, of topic: TopicHandle, by seq: UInt64)
    {
        endedPresences.append(
            EndedPresenceLog.Entry(seq: seq, publisher: name(ofPublisherOf: topic), part: part))
    }

    private func name(ofPublisherOf topic: TopicHandle) -> [UInt8] {
        name(of: AccountHandle(index: topics[topic.index].account))
    }

    /// Appends the ends of what a session knew: of devices that are not online again, and of the
    /// sight of publishers that it does not see again, except the one whose state follows.
    mutating func appendEnds(
        _ ended: [EndedPresenceLog.Entry], but stated: TopicHandle? = nil, to session: UInt32,
        at now: Moment, into effects: inout Effects
    ) {
        var rest = ended
        if let stated {
            let publisher = name(ofPublisherOf: stated)
            rest.removeAll { $0.publisher == publisher }
        }
        while let publisher = rest.first?.publisher {
            let parts = rest.filter { $0.publisher == publisher }.map(\.part)
            rest.removeAll { $0.publisher == publisher }
            appendEnd(of: publisher, parts, to: session, at: now, into: &effects)
        }
    }

    private mutating func appendEnd(
        of publisher: [UInt8], _ parts: [EndedPresenceLog.Part], to session: UInt32, at now: Moment,
        into effects: inout Effects
    ) {
        let account = find(publisher.span)
        let isSeen = account.map { isInSight($0, of: session) } == true
        let start = effects.devices.count
        for case .device(let device, let client, _, _) in parts
        where !isSeen || !isShown(device, of: account) {
            effects.devices.append(
                DeviceEntry(client: client, name: effects.copy(device), reach: .connection))
        }
        let devices = start..<effects.devices.count
        guard !devices.isEmpty || !isSeen && parts.contains(.sight) else { return }
        let seq = numberOfEnd(account, isSeen: isSeen, for: session)
        let publisher = effects.copy(publisher)
        effects.appendUnknown(.presence, publisher, .hidden, seq: seq, at: now.wall)
        effects.events[effects.events.count - 1].withdrawn = devices
    }

    private mutating func numberOfEnd(
        _ account: AccountHandle?, isSeen: Bool, for session: UInt32
    ) -> UInt64 {
        guard let account else { return sequence.next() }
        guard let topic = topic(.presence, of: account) else {
            return sightChanges[account.index] ?? sequence.next()
        }
        guard !isSeen else { return topics[topic.index].seq }
        return numberOfHidden(topic, for: AccountHandle(index: sessions[session].account))
    }

    /// Whether a session sees an account, or is one of it.
    private func isInSight(_ account: AccountHandle, of session: UInt32) -> Bool {
        guard account.index != sessions[session].account else { return true }
        return topic(.presence, of: account).map { sees($0, session) } == true
    }

    /// Whether others see a device of an account.
    func isShown(_ device: [UInt8], of account: AccountHandle?) -> Bool {
        guard let account, let session = session(of: account, on: device) else { return false }
        return sessions[session].phase != .hidden
    }
}
