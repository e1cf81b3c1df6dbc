public import XML

extension [UInt8] {
    /// Appends a stanza for another client: as its sender has written it, but from the sender, with
    /// both addresses at its domain.
    ///
    /// It is written from its tree. Of its attributes, those of stanzas go through, and of its
    /// elements those that are not the service's to say. Appends nothing
    /// and returns false if that would be more than `bytesMax`: prefixes that are used often are
    /// short in the input and long in the output.
    public mutating func appendRelayed(
        _ stanza: XMLElement, from sender: StanzaSender, bytesMax: Int
    ) -> Bool {
        let start = count
        append(literal: "<")
        append(contentsOf: stanza.name)
        append(literal: " from='")
        appendJID(of: sender.account, at: sender.domain, device: sender.device)
        append(literal: "'")
        appendReceiver(of: stanza, at: sender.domain)
        for name: StaticString in ["type", "id"] {
            if let value = stanza.attribute(name) { appendXML(attribute: name, value) }
        }
        if let language = stanza.attribute("lang", in: Namespace.xml) {
            appendXML(attribute: "xml:lang", language)
        }
        append(literal: ">")
        let isPresence = stanza.name.isEqual(to: "presence")
        for child in stanza.elements where !(isPresence && child.isOfService) {
            let rest = Swift.max(0, bytesMax - (count - start))
            guard appendXML(child, in: Namespace.client, bytesMax: rest) else {
                removeLast(count - start)
                return false
            }
        }
        append(literal: "</")
        append(contentsOf: stanza.name)
        append(literal: ">")
        guard count - start <= bytesMax else {
            removeLast(count - start)
            return false
        }
        return true
    }

    /// Appends the address in the form that clients are sent of every JID, not as it was written:
    /// one that refuses it may drop its connection.
    private mutating func appendReceiver(of stanza: XMLElement, at domain: [UInt8]) {
        guard let jid = stanza.attribute("to").flatMap({ JID($0) }),
            let account = jid.localpart.flatMap({ Localpart.account(of: $0) })
        else { return }
        append(literal: " to='")
        appendJID(
            of: account, at: domain, device: jid.resource.flatMap { Resource.device(of: $0) })
        append(literal: "'")
    }
}
