// Answers to iqs, and errors. An answer has the id of its question, comes from where the question
// was sent, and is addressed to the device that has asked.

public import Passwords
public import PresenceCore
internal import XML

/// What the service says of itself.
public struct ServiceDescription: Hashable, Sendable {
    /// Its name.
    public var name: [UInt8]
    /// Its version.
    public var version: [UInt8]

    /// A description.
    public init(name: [UInt8], version: [UInt8]) {
        self.name = name
        self.version = version
    }

    fileprivate static let features: [StaticString] = [
        Namespace.discoInfo, Namespace.discoItems, Namespace.ping, Namespace.last,
        Namespace.version, Namespace.time, Namespace.offlineMessages, Namespace.stanzaIDs,
        Namespace.vcard, Namespace.carbons,
    ]
}

extension [UInt8] {
    // MARK: - Results

    /// Appends a result up to its attributes.
    mutating func appendResultStart(_ head: StanzaHead, to client: StanzaSender) {
        append(literal: "<iq type='result'")
        appendAddresses(head, to: client)
    }

    /// Appends a result that says nothing but that all went well.
    public mutating func appendResult(_ head: StanzaHead, to client: StanzaSender) {
        appendResultStart(head, to: client)
        append(literal: "/>")
    }

    /// Appends that the password is changed, with what the user should know of it.
    public mutating func appendPasswordChanged(
        _ head: StanzaHead, to client: StanzaSender, _ remark: Password.Remark?
    ) {
        guard let remark else { return appendResult(head, to: client) }
        appendResultStart(head, to: client)
        append(literal: ">")
        append(remark)
        append(literal: "</iq>")
    }

    /// Appends the features of the service. `canChangePassword`: whether the client may change the
    /// password of its account, by which others recognise that too (XEP-0077).
    public mutating func appendServiceFeatures(
        _ head: StanzaHead, to client: StanzaSender, _ service: ServiceDescription,
        canChangePassword: Bool
    ) {
        appendQueryStart(head, to: client, Namespace.discoInfo)
        append(literal: "><identity category='server' type='im'")
        appendXML(attribute: "name", service.name)
        append(literal: "/>")
        appendFeatures(ServiceDescription.features)
        if canChangePassword { appendFeatures([Namespace.register]) }
        append(literal: "</query></iq>")
    }

    /// Appends the features of an account.
    public mutating func appendAccountFeatures(_ head: StanzaHead, to client: StanzaSender) {
        appendQueryStart(head, to: client, Namespace.discoInfo)
        append(literal: "><identity category='account' type='registered'/>")
        appendFeatures([Namespace.discoInfo, Namespace.discoItems, Namespace.vcard])
        append(literal: "</query></iq>")
    }

    /// Appends a card as it was stored.
    public mutating func appendCard(
        _ content: [UInt8], _ head: StanzaHead, to client: StanzaSender
    ) {
        appendResultStart(head, to: client)
        append(literal: ">")
        self += content
        append(literal: "</iq>")
    }

    /// Appends that there are no items.
    public mutating func appendNoItems(_ head: StanzaHead, to client: StanzaSender) {
        appendQueryStart(head, to: client, Namespace.discoItems)
        append(literal: "/></iq>")
    }

    /// Appends the fields with which a client changes the password of its account.
    public mutating func appendRegistrationForm(_ head: StanzaHead, to client: StanzaSender) {
        appendQueryStart(head, to: client, Namespace.register)
        append(literal: "><registered/><username>")
        appendLocalpart(of: client.account)
        append(literal: "</username><password/></query></iq>")
    }

    /// Appends the seconds of XEP-0012: of the service since its start, of an account since it was
    /// online, which is 0 while it is.
    public mutating func appendLast(
        _ head: StanzaHead, to client: StanzaSender, seconds: Int
    ) {
        appendQueryStart(head, to: client, Namespace.last)
        append(literal: " seconds='")
        append(contentsOf: String(Swift.max(0, seconds)).utf8)
        append(literal: "'/></iq>")
    }

    /// Appends the name and version of the service.
    public mutating func appendVersion(
        _ head: StanzaHead, to client: StanzaSender, _ service: ServiceDescription
    ) {
        appendQueryStart(head, to: client, Namespace.version)
        append(literal: ">")
        appendXML(element: "name", text: service.name)
        appendXML(element: "version", text: service.version)
        append(literal: "</query></iq>")
    }

    /// Appends the time of the service, in UTC.
    public mutating func appendTime(
        _ head: StanzaHead, to client: StanzaSender, _ time: Wall
    ) {
        appendResultStart(head, to: client)
        append(literal: "><time xmlns='urn:xmpp:time'><tzo>+00:00</tzo><utc>")
        append(time)
        append(literal: "</utc></time></iq>")
    }

    /// Appends a ping to a client; its `id` is this name and number.
    public mutating func appendPing(
        _ name: StaticString = "ping", number: UInt64, to client: StanzaSender
    ) {
        append(literal: "<iq type='get' id='")
        append(literal: name)
        append(literal: "-")
        append(contentsOf: String(number).utf8)
        append(literal: "' from='")
        append(contentsOf: client.domain)
        append(literal: "' to='")
        appendJID(of: client.account, at: client.domain, device: client.device)
        append(literal: "'><ping xmlns='urn:xmpp:ping'/></iq>")
    }

    // MARK: - Errors

    /// Appends an error about a stanza.
    public mutating func append(
        _ error: StanzaError, _ head: StanzaHead, to client: StanzaSender
    ) {
        append(literal: "<")
        append(literal: head.kind.name)
        append(literal: " type='error'")
        appendAddresses(head, to: client)
        append(literal: ">")
        append(error)
        append(literal: "</")
        append(literal: head.kind.name)
        append(literal: ">")
    }

    /// Appends the element that says what is wrong.
    mutating func append(_ error: StanzaError) {
        append(literal: "<error type='")
        append(contentsOf: error.kind.rawValue.utf8)
        append(literal: "'>")
        append(
            condition: error.condition.rawValue, error.text,
            in: "urn:ietf:params:xml:ns:xmpp-stanzas")
        append(literal: "</error>")
    }

    /// Appends the condition, and a text for developers if there is one, in the form of errors of
    /// stanzas and streams.
    mutating func append(condition: String, _ text: String, in namespace: StaticString) {
        append(literal: "<")
        append(contentsOf: condition.utf8)
        append(literal: " xmlns='")
        append(literal: namespace)
        append(literal: "'/>")
        guard !text.isEmpty else { return }
        append(literal: "<text xmlns='")
        append(literal: namespace)
        append(literal: "' xml:lang='en'>")
        appendXML(text: text.utf8)
        append(literal: "</text>")
    }

    // MARK: - Parts

    /// The id of the question, and the addresses of an answer to it.
    private mutating func appendAddresses(_ head: StanzaHead, to client: StanzaSender) {
        if let id = head.id { appendXML(attribute: "id", id) }
        if let to = head.to, !to.isEmpty { appendXML(attribute: "from", to) }
        append(literal: " to='")
        appendJID(of: client.account, at: client.domain, device: client.device)
        append(literal: "'")
    }

    private mutating func appendQueryStart(
        _ head: StanzaHead, to client: StanzaSender, _ namespace: StaticString
    ) {
        appendResultStart(head, to: client)
        append(literal: "><query xmlns='")
        append(literal: namespace)
        append(literal: "'")
    }

    private mutating func appendFeatures(_ features: [StaticString]) {
        for feature in features {
            append(literal: "<feature var='")
            append(literal: feature)
            append(literal: "'/>")
        }
    }
}
