import Containers
import PresenceCore
import PresenceXMPP
import XML

// An event as presences, once for all receivers. Where they differ there is a byte that XML cannot
// contain: their connection loop puts the JID and the domain of each receiver there.

/// Bytes that XML cannot contain, with which templates say what belongs in their place.
private enum TemplateMark {
    /// The bare JID of the receiver.
    static let receiver: UInt8 = 0
    /// The domain of the receiver.
    static let domain: UInt8 = 1
}

extension Span<UInt8> {
    /// A hash of what a template has before its first receiver: the device that it is from.
    var hashOfSender: Int {
        var hasher = Hasher()
        var index = 0
        while index < count, self[index] != TemplateMark.receiver {
            hasher.combine(self[index])
            index += 1
        }
        return hasher.finalize()
    }
}

extension [UInt8] {
    /// Appends an event, or a state, as presences; nothing if it is none for XMPP clients.
    mutating func appendStanzas(of event: Event, in effects: borrowing Effects) {
        var template = PresenceTemplate()
        template.append(event, in: effects, at: [TemplateMark.domain])
        template.append(to: [TemplateMark.receiver], into: &self)
    }

    /// Appends a presence for receivers that need not subscribe.
    mutating func appendStanzas(of presence: DirectedPresence, in effects: borrowing Effects) {
        var template = PresenceTemplate()
        template.append(presence, in: effects, at: [TemplateMark.domain])
        template.append(to: [TemplateMark.receiver], into: &self)
    }

    /// Appends an iq for another client, with both addresses at the domain of that. Returns false
    /// if it has more than `bytesMax`.
    mutating func appendIQ(
        _ iq: XMLElement, from sender: StanzaSender, bytesMax: Int
    ) -> Bool {
        var sender = sender
        sender.domain = [TemplateMark.domain]
        return appendRelayed(iq, from: sender, bytesMax: bytesMax)
    }

    /// Appends presences as the receiver with a bare JID gets them.
    mutating func append(_ presences: borrowing DividedStanzas, to jid: [UInt8]) {
        // Each array is looked at once: every access to it may be a retain and a release.
        let bytes = presences.bytes.span
        let gaps = presences.gaps.span
        let name = jid.span
        var start = 0
        for place in gaps.indices {
            append(bytes.extracting(start..<gaps[place]))
            append(name)
            start = gaps[place]
        }
        append(bytes.extracting(start..<bytes.count))
    }
}

/// What was encoded for all receivers, divided at the places where it differs.
///
/// It is divided once for all receivers of the same domain: to look at every byte for every
/// receiver costs more than everything else that a delivery does.
struct DividedStanzas {
    /// The domain of the receivers; empty: nothing has been divided.
    private(set) var domain: [UInt8] = []
    /// The presences without the values of `to`.
    private(set) var bytes: [UInt8] = []
    /// Where the bare JID of the receiver belongs, in rising order.
    private(set) var gaps: [Int] = []

    /// Divides a template for receivers of a domain.
    mutating func divide(_ template: Span<UInt8>, at domain: [UInt8]) {
        removeAll()
        self.domain = domain
        var start = 0
        for index in template.indices where template[index] <= TemplateMark.domain {
            bytes.append(template.extracting(start..<index))
            if template[index] == TemplateMark.domain {
                bytes.append(domain.span)
            } else {
                gaps.append(bytes.count)
            }
            start = index + 1
        }
        bytes.append(template.extracting(start..<template.count))
    }

    /// The same, unless it is what has been divided last.
    mutating func divideOnce(_ template: Span<UInt8>, at domain: [UInt8]) {
        if domain != self.domain { divide(template, at: domain) }
    }

    /// Forgets everything, and keeps the memory.
    mutating func removeAll() {
        domain = []
        bytes.removeAll(keepingCapacity: true)
        gaps.removeAll(keepingCapacity: true)
    }
}
