public import XML

extension StanzaTemplate {
    /// Appends a stanza for another client: as its sender has written it, but from the sender, with
    /// both addresses at the domain of the receiver.
    ///
    /// It is written from its tree. Of its attributes, those of stanzas go through, and of its
    /// elements those that are not the service's to say. Appends nothing
    /// and returns false if that would be more than `bytesMax`, without the domains: prefixes that
    /// are used often are short in the input and long in the output.
    public mutating func appendRelayed(
        _ stanza: XMLElement, from sender: StanzaSender, bytesMax: Int
    ) -> Bool {
        let start = end
        let isWhole = appendParts(of: stanza, from: sender, bytesMax: bytesMax)
        if !isWhole { removeAll(after: start) }
        return isWhole
    }

    private mutating func appendParts(
        of stanza: XMLElement, from sender: StanzaSender, bytesMax: Int
    ) -> Bool {
        let start = bytes.count
        // Of a message, the rest is of use without a part that others may reject.
        let isMessage = stanza.name.isEqual(to: "message")
        bytes.append(literal: "<")
        bytes.append(contentsOf: stanza.name)
        bytes.append(literal: " from='")
        appendJID(of: sender.account, device: sender.device)
        bytes.append(literal: "'")
        appendReceiver(of: stanza)
        for name: StaticString in ["type", "id"] {
            if let value = stanza.attribute(name) { bytes.appendXML(attribute: name, value) }
        }
        if let language = stanza.attribute("lang", in: Namespace.xml) {
            bytes.appendXML(attribute: "xml:lang", language)
        }
        bytes.append(literal: ">")
        for child in stanza.elements where !child.isReserved(in: stanza) {
            let rest = max(0, bytesMax - (bytes.count - start))
            guard
                isMessage
                    ? bytes.appendXMLIfWhole(child, in: Namespace.client, bytesMax: rest)
                    : bytes.appendXML(child, in: Namespace.client, bytesMax: rest)
            else { return false }
        }
        bytes.append(literal: "</")
        bytes.append(contentsOf: stanza.name)
        bytes.append(literal: ">")
        return bytes.count - start <= bytesMax
    }

    /// Appends the address in the form that clients are sent of every JID, not as it was written:
    /// one that rejects it may drop its connection.
    private mutating func appendReceiver(of stanza: XMLElement) {
        guard let jid = stanza.attribute("to").flatMap({ JID($0) }),
            let account = jid.localpart.flatMap({ Localpart.account(of: $0) })
        else { return }
        bytes.append(literal: " to='")
        appendJID(of: account, device: jid.resource.flatMap { Resource.device(of: $0) })
        bytes.append(literal: "'")
    }
}

extension XMLElement {
    /// Whether it is what only the service may say in such a stanza: receivers believe it.
    fileprivate func isReserved(in stanza: XMLElement) -> Bool {
        if stanza.name.isEqual(to: "presence") { return isOfService }
        return stanza.name.isEqual(to: "message") && isOfServiceInMessage
    }
}
