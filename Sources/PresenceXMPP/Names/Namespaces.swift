/// The namespaces of XMPP that are used.
enum Namespace {
    static let client: StaticString = "jabber:client"
    static let streams: StaticString = "http://etherx.jabber.org/streams"
    static let tls: StaticString = "urn:ietf:params:xml:ns:xmpp-tls"
    static let sasl: StaticString = "urn:ietf:params:xml:ns:xmpp-sasl"
    static let stanzas: StaticString = "urn:ietf:params:xml:ns:xmpp-stanzas"
    static let bind: StaticString = "urn:ietf:params:xml:ns:xmpp-bind"
    static let session: StaticString = "urn:ietf:params:xml:ns:xmpp-session"
    static let xml: StaticString = "http://www.w3.org/XML/1998/namespace"
    static let roster: StaticString = "jabber:iq:roster"
    static let register: StaticString = "jabber:iq:register"
    static let ping: StaticString = "urn:xmpp:ping"
    static let discoInfo: StaticString = "http://jabber.org/protocol/disco#info"
    static let discoItems: StaticString = "http://jabber.org/protocol/disco#items"
    static let last: StaticString = "jabber:iq:last"
    static let version: StaticString = "jabber:iq:version"
    static let time: StaticString = "urn:xmpp:time"
    static let clientState: StaticString = "urn:xmpp:csi:0"
    static let streamManagement: StaticString = "urn:xmpp:sm:3"
    static let compression: StaticString = "http://jabber.org/protocol/compress"
    static let vcard: StaticString = "vcard-temp"
    static let delay: StaticString = "urn:xmpp:delay"
    /// That of XEP-0091, which some clients still read.
    static let oldDelay: StaticString = "jabber:x:delay"
    /// The custom status of an account, as a child of its presence.
    static let status: StaticString = "urn:porchlight:status:0"
}
