public import PresenceCore
internal import XML

extension StanzaTemplate {
    /// Appends a message for a receiver that fills the gaps. `id` is the service's for it, and
    /// `isDelayed` whether it has waited.
    public mutating func append(_ message: DeliveredMessage, id: [UInt8], isDelayed: Bool) {
        bytes.append(literal: "<message from='")
        if message.from.isEmpty {
            appendGap(for: .domain)
        } else {
            appendJID(
                of: message.from, device: message.fromDevice.isEmpty ? nil : message.fromDevice)
        }
        bytes.append(literal: "' to='")
        appendGap(for: .receiver)
        if let device = message.stanza?.addressed, !device.isEmpty {
            bytes.append(literal: "/")
            bytes.appendResource(of: device)
        }
        bytes.append(literal: "'")
        bytes.appendXML(attribute: "id", message.ref.isEmpty ? id : message.ref)
        // Without one it is normal (RFC 6121, 5.2.2).
        if message.stanza?.kind != .normal { bytes.append(literal: " type='chat'") }
        if let language = message.stanza?.language, !language.isEmpty {
            bytes.appendXML(attribute: "xml:lang", language)
        }
        bytes.append(literal: ">")
        if !message.body.isEmpty { bytes.appendXML(element: "body", text: message.body) }
        if let extra = message.stanza?.extra { bytes.append(contentsOf: extra) }
        if !message.ext.isEmpty {
            bytes.append(literal: "<ext xmlns='urn:porchlight:message:0'>")
            bytes.appendXML(text: message.ext)
            bytes.append(literal: "</ext>")
        }
        if isDelayed {
            bytes.append(literal: "<delay xmlns='urn:xmpp:delay' from='")
            appendGap(for: .domain)
            bytes.append(literal: "' stamp='")
            bytes.append(message.time)
            bytes.append(literal: "'/>")
        }
        bytes.append(literal: "<stanza-id xmlns='urn:xmpp:sid:0' by='")
        appendGap(for: .receiver)
        bytes.append(literal: "'")
        bytes.appendXML(attribute: "id", id)
        bytes.append(literal: "/></message>")
    }
}
