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
        var template = PresenceTemplate()
        template.append(event, in: copy effects, at: [Self.domainMark])
        template.append(to: [Self.receiverMark], into: &self)
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
