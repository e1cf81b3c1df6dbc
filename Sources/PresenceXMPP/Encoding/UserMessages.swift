public import PresenceCore
internal import XML

extension StanzaTemplate {
    /// Appends a message for a receiver that fills the gaps. `id` is the service's for it, and
    /// `isDelayed` whether it has waited.
    public mutating func append(_ message: DeliveredMessage, id: [UInt8], isDelayed: Bool) {
        appendStart(of: message, to: nil, id: id)
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

    /// Appends a message that another client of the receiver's account has sent to an account, or
    /// to a device of it if that has a name.
    public mutating func appendCopy(
        ofSent message: DeliveredMessage, to account: [UInt8], _ device: [UInt8], id: [UInt8]
    ) {
        var original = StanzaTemplate()
        original.appendStart(of: message, to: (account, device), id: id)
        original.bytes.append(literal: "</message>")
        appendCopy(.sent, of: original, isChat: message.stanza?.kind != .normal)
    }

    /// Appends a message that another client of the receiver's account is sent.
    public mutating func appendCopy(
        ofReceived message: DeliveredMessage, id: [UInt8]
    ) {
        var original = StanzaTemplate()
        original.append(message, id: id, isDelayed: false)
        appendCopy(.received, of: original, isChat: message.stanza?.kind != .normal)
    }

    /// Appends a message up to what the service says in it. It is to an account or the receiver.
    private mutating func appendStart(
        of message: DeliveredMessage, to other: (account: [UInt8], device: [UInt8])?, id: [UInt8]
    ) {
        bytes.append(literal: "<message from='")
        if message.from.isEmpty {
            appendGap(for: .domain)
        } else {
            appendJID(
                of: message.from, device: message.fromDevice.isEmpty ? nil : message.fromDevice)
        }
        bytes.append(literal: "' to='")
        if let other {
            appendJID(of: other.account, device: nil as [UInt8]?)
        } else {
            appendGap(for: .receiver)
        }
        if let device = other?.device ?? message.stanza?.addressed, !device.isEmpty {
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
        appendBody(of: message)
        if !message.ext.isEmpty {
            bytes.append(literal: "<ext xmlns='urn:porchlight:message:0'>")
            bytes.appendXML(text: message.ext)
            bytes.append(literal: "</ext>")
        }
    }

    /// Appends the body and the other elements. If those begin with the tag of a body, it is that
    /// of the text.
    private mutating func appendBody(of message: DeliveredMessage) {
        if let receipt = message.stanza, receipt.kind == .receipt {
            if !message.body.isEmpty { bytes.appendXML(element: "body", text: message.body) }
            bytes.append(literal: "<received xmlns='urn:xmpp:receipts'")
            bytes.appendXML(attribute: "id", receipt.extra)
            return bytes.append(literal: "/>")
        }
        var extra = message.stanza?.extra[...] ?? []
        // As `StanzaDecoder` writes it: elements of others that begin like it declare a namespace.
        let hasTag =
            extra.starts(with: "<body/>".utf8) || extra.starts(with: "<body xml:lang='".utf8)
        let tagEnd = hasTag ? extra.firstIndex(of: UInt8(ascii: ">")) : nil
        if let tagEnd, extra[tagEnd - 1] == UInt8(ascii: "/") {
            let tag = extra[...tagEnd]
            extra = extra[(tagEnd + 1)...]
            guard !message.body.isEmpty else {
                bytes.append(contentsOf: tag)
                return bytes.append(contentsOf: extra)
            }
            bytes.append(contentsOf: tag.dropLast(2))
            bytes.append(literal: ">")
            bytes.appendXML(text: message.body)
            bytes.append(literal: "</body>")
        } else if !message.body.isEmpty {
            bytes.appendXML(element: "body", text: message.body)
        }
        bytes.append(contentsOf: extra)
    }
}
