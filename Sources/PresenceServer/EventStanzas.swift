import PresenceCore
import PresenceXMPP

// An event as presences, once for all receivers. Where they differ there is a byte that XML cannot
// contain: their connection loop puts the JID and the domain of each receiver there.

extension [UInt8] {
    /// Stands for the bare JID of the receiver.
    private static var receiverMark: UInt8 { 0 }
    /// Stands for the domain of the receiver.
    private static var domainMark: UInt8 { 1 }

    /// Appends an event, or a state, as presences; nothing if it is none for XMPP clients.
    mutating func appendStanzas(of event: Event, in effects: borrowing Effects) {
        guard event.type == .presence else { return }
        switch event.cause {
        case .login, .changed:
            if let origin = event.origin { appendPresence(of: origin, event, in: effects) }
        case .logout, .disconnect, .kicked, .restart:
            appendUnavailable(event.origin, event, in: effects)
        case .publish, .cleared, .expired:
            appendPresences(event, in: effects)
        case .sync, .shown:
            guard event.online?.isEmpty == false else {
                return appendUnavailable(nil, event, in: effects)
            }
            appendPresences(event, in: effects)
        case .hidden:
            for index in event.withdrawn ?? 0..<0 {
                appendUnavailable(effects.devices[index], event, in: effects)
            }
        }
    }

    private mutating func appendPresences(_ event: Event, in effects: borrowing Effects) {
        for index in event.online ?? 0..<0 {
            appendPresence(of: effects.devices[index], event, in: effects)
        }
    }

    private mutating func appendPresence(
        of device: DeviceEntry, _ event: Event, in effects: borrowing Effects
    ) {
        appendStart(of: device, event, in: effects)
        var availability =
            device.availability.map { effects.availabilities[Int($0)] } ?? Availability()
        if device.reach == .push { availability.show = .xa }
        let status = event.status.map { status in
            StatusContent(
                value: status.value, expires: status.expires,
                ext: status.ext.map { Array(effects.text($0)) } ?? [])
        }
        appendPresenceRest(availability, status: status)
    }

    private mutating func appendUnavailable(
        _ device: DeviceEntry?, _ event: Event, in effects: borrowing Effects
    ) {
        appendStart(of: device, event, in: effects)
        appendUnavailableRest()
    }

    private mutating func appendStart(
        of device: DeviceEntry?, _ event: Event, in effects: borrowing Effects
    ) {
        appendPresenceStart(
            from: effects.text(event.publisher), device: device.map { effects.text($0.name) },
            at: [Self.domainMark])
        append(Self.receiverMark)
    }

    /// Appends what was encoded for all, for one receiver.
    mutating func append(_ template: Span<UInt8>, to jid: [UInt8], at domain: [UInt8]) {
        for index in template.indices {
            switch template[index] {
            case Self.receiverMark: append(contentsOf: jid)
            case Self.domainMark: append(contentsOf: domain)
            case let byte: append(byte)
            }
        }
    }
}
