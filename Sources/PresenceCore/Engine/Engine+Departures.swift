// What is told to a session that has missed the end of a device, or of the sight of a publisher.

import Containers

extension Engine {
    /// Notes which device the next event ends. Only clients of XMPP are told devices one by one.
    mutating func noteEnd(
        of origin: DeviceEntry, began: SessionID, on topic: TopicHandle, in effects: Effects
    ) {
        guard resourceCount > 0 else { return }
        let name = Int(origin.name.start)..<Int(origin.name.start + origin.name.count)
        note(
            .device(Array(effects.bytes[name]), origin.client, began: began.ordinal), of: topic,
            by: sequence.last + 1)
    }

    /// Notes that the newest event of a topic ends the sight of its publisher for its receivers.
    mutating func noteEndOfSight(of topic: TopicHandle) {
        guard topics[topic.index].type == .presence else { return }
        let seq = topics[topic.index].seq
        note(.sight, of: topic, by: seq)
        guard resourceCount > 0 else { return }
        var session = firstSession[Int(topics[topic.index].account)]
        while session != none {
            var device: [UInt8] = []
            strings.append(sessions[session].device, to: &device)
            note(
                .device(
                    device, sessions[session].client, began: sessions[session].shownSince.ordinal),
                of: topic, by: seq)
            session = links[Int(session)].next
        }
    }

    private mutating func note(_ part: Departures.Part, of topic: TopicHandle, by seq: UInt64) {
        var publisher: [UInt8] = []
        appendName(of: AccountHandle(index: topics[topic.index].account), to: &publisher)
        departures.append(Departures.Entry(seq: seq, publisher: publisher, part: part))
    }

    /// Appends what has gone that a session knew: the devices that are not online again, and the
    /// sight of publishers that it does not see again.
    mutating func appendDepartures(
        _ departed: [Conflation.Departed], to session: UInt32, at now: Moment,
        into effects: inout Effects
    ) {
        var rest = departed
        while let publisher = rest.first?.publisher {
            let parts = rest.filter { $0.publisher == publisher }.map(\.part)
            rest.removeAll { $0.publisher == publisher }
            appendDeparture(of: publisher, parts, to: session, at: now, into: &effects)
        }
    }

    private mutating func appendDeparture(
        of publisher: [UInt8], _ parts: [Departures.Part], to session: UInt32, at now: Moment,
        into effects: inout Effects
    ) {
        let account = find(publisher.span)
        let topic = account.flatMap { self.topic(.presence, of: $0) }
        let isSeen =
            account?.index == sessions[session].account
            || topic.map { sees($0, session) } == true
        let start = effects.devices.count
        for case .device(let device, let client, _) in parts
        where !isSeen || !isShown(device, of: account) {
            effects.devices.append(
                DeviceEntry(client: client, name: effects.copy(device), reach: .connection))
        }
        let devices = start..<effects.devices.count
        guard !devices.isEmpty || !isSeen && parts.contains(.sight) else { return }
        var event = Event(
            type: .presence, publisher: effects.copy(publisher), value: OwnValue.unknown,
            cause: .hidden, seq: topic.map { topics[$0.index].seq } ?? sequence.next(),
            time: now.wall, online: effects.devices.count..<effects.devices.count)
        event.withdrawn = devices
        effects.events.append(event)
    }

    /// Whether others see a device of an account.
    private func isShown(_ device: [UInt8], of account: AccountHandle?) -> Bool {
        guard let account, let session = session(of: account, on: device) else { return false }
        return sessions[session].phase != .hidden
    }
}
