// Events and states as presences. A subscriber of XMPP sees the devices of a publisher one by one,
// so one event can be several presences: of the device that caused it, or of each that is online.
//
// They are encoded once for all receivers: see `StanzaTemplate`.

public import PresenceCore
internal import XML

extension StanzaTemplate {
    /// Appends what an event or a state is for subscribers. Nothing if its type is not presence.
    public mutating func append(_ event: Event, in effects: borrowing Effects) {
        guard event.type == .presence else { return }
        let source = Source(event, effects)
        switch event.cause {
        case .login, .changed:
            guard let origin = event.origin else { return append(state: event, source, effects) }
            appendAvailable(origin, source, effects)
        case .logout, .disconnect, .kicked, .restart:
            var farewell: Availability?
            if let number = event.origin?.availability {
                farewell = effects.availabilities[Int(number)]
            }
            appendUnavailable(event.origin, farewell: farewell, source, effects)
        case .publish, .cleared, .expired:
            for device in devices(event.online, effects) {
                appendAvailable(device, source, effects)
            }
        case .hidden:
            for device in devices(event.withdrawn, effects) {
                appendUnavailable(device, source, effects)
            }
        case .sync, .shown: append(state: event, source, effects)
        }
    }

    /// Appends a presence for receivers that need not subscribe. It says what its sender has said:
    /// the status of the account is for subscribers.
    public mutating func append(_ presence: DirectedPresence, in effects: borrowing Effects) {
        var source = Source(account: effects.text(presence.sender))
        source.addressed = presence.addressed.map { effects.text($0) }
        switch presence.kind {
        case .available: appendAvailable(presence.device, source, effects)
        case .unavailable, .unavailableToSubscribers:
            var farewell: Availability?
            if let number = presence.device.availability {
                farewell = effects.availabilities[Int(number)]
            }
            appendUnavailable(presence.device, farewell: farewell, source, effects)
        }
    }

    /// What all presences of an event have in common.
    private struct Source {
        let account: ArraySlice<UInt8>
        let status: StatusContent?
        /// When it was so, if the receiver did not see that happen.
        var since: Wall?
        /// The device to which it was addressed.
        var addressed: ArraySlice<UInt8>?

        init(account: ArraySlice<UInt8>) {
            self.account = account
            status = nil
        }

        init(_ event: Event, _ effects: borrowing Effects) {
            account = effects.text(event.publisher)
            if let status = event.status {
                var ext: [UInt8] = []
                if let range = status.ext { ext += effects.text(range) }
                self.status = StatusContent(
                    value: status.value, expires: status.expires, ext: ext)
            } else {
                status = nil
            }
            // Since when a device shows itself as it does is not known.
            if event.cause == .sync { since = event.lastSeen }
        }
    }

    private func devices(
        _ range: Range<Int>?, _ effects: borrowing Effects
    ) -> ArraySlice<DeviceEntry> {
        guard let range else { return [] }
        return effects.devices[range]
    }

    private mutating func append(
        state event: Event, _ source: Source, _ effects: borrowing Effects
    ) {
        let online = devices(event.online, effects)
        for device in online { appendAvailable(device, source, effects) }
        if online.isEmpty { appendUnavailable(nil, source, effects) }
    }

    private mutating func appendAvailable(
        _ device: DeviceEntry, _ source: Source, _ effects: borrowing Effects
    ) {
        appendStart(device, source, effects)
        var availability = Availability()
        if let number = device.availability { availability = effects.availabilities[Int(number)] }
        // Its user is away from a device that only push reaches.
        if device.reach == .push { availability.show = .xa }
        bytes.appendPresenceRest(availability, status: source.status, since: source.since)
    }

    /// Of a device, or of an account without one.
    private mutating func appendUnavailable(
        _ device: DeviceEntry?, farewell: Availability? = nil, _ source: Source,
        _ effects: borrowing Effects
    ) {
        appendStart(device, source, effects)
        bytes.appendUnavailableRest(farewell, since: source.since)
    }

    private mutating func appendStart(
        _ device: DeviceEntry?, _ source: Source, _ effects: borrowing Effects
    ) {
        var name: ArraySlice<UInt8>?
        if let device { name = effects.text(device.name) }
        bytes.append(literal: "<presence from='")
        appendJID(of: source.account, device: name)
        bytes.append(literal: "' to='")
        appendGap(for: .receiver)
        guard let device = source.addressed else { return }
        bytes.append(UInt8(ascii: "/"))
        bytes.appendResource(of: device)
    }
}

extension RosterItem {
    /// A contact as in a list or a change.
    public init(_ contact: ContactEntry, in effects: borrowing Effects) {
        self.init(
            account: Array(effects.text(contact.account)),
            label: ContactLabel(stored: Array(effects.text(contact.label))),
            seen: contact.seen, sees: contact.sees, isApprovedBefore: contact.isApprovedBefore)
    }
}

extension [UInt8] {
    /// Appends what a contact has said to the account of `client`.
    public mutating func append(
        _ word: RelationWord, of contact: ContactEntry, in effects: borrowing Effects,
        to client: StanzaSender
    ) {
        var content = RequestContent.none
        if word == .subscribe {
            content.text = contact.requestText.map { Array(effects.text($0)) }
            if let extra = contact.requestExtra { content.extra += effects.text(extra) }
        }
        appendWord(
            word, from: effects.text(contact.account), to: client.account, at: client.domain,
            content)
    }
}
