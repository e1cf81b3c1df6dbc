// What the service writes while a stream is negotiated (RFC 6120, 4 to 7).

internal import Containers
internal import Passwords
internal import XML

extension [UInt8] {
    /// Appends the header of a stream, up to its features.
    mutating func appendHeader(
        in framing: StreamFraming, id: [UInt8], domain: [UInt8],
        to client: (some Collection<UInt8>)?
    ) {
        switch framing {
        case .stream:
            append(
                literal: """
                    <?xml version='1.0'?><stream:stream xmlns='jabber:client' \
                    xmlns:stream='http://etherx.jabber.org/streams' version='1.0' xml:lang='en'
                    """)
        case .messages:
            append(
                literal: """
                    <open xmlns='urn:ietf:params:xml:ns:xmpp-framing' version='1.0' xml:lang='en'
                    """)
        }
        appendXML(attribute: "id", id)
        appendXML(attribute: "from", domain)
        if let client { appendXML(attribute: "to", client) }
        append(literal: framing == .stream ? ">" : "/>")
    }

    /// Appends the end of a stream.
    mutating func appendStreamEnd(in framing: StreamFraming) {
        switch framing {
        case .stream: append(literal: "</stream:stream>")
        case .messages: append(literal: "<close xmlns='urn:ietf:params:xml:ns:xmpp-framing'/>")
        }
    }

    /// Appends what a client can do next.
    mutating func appendFeatures(
        in phase: StreamPhase, _ framing: StreamFraming, _ settings: StreamSettings
    ) {
        append(literal: "<stream:features>")
        if phase == .clear, settings.offersTLS, framing == .stream {
            append(literal: "<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'>")
            if !settings.allowsPlaintext { append(literal: "<required/>") }
            append(literal: "</starttls>")
        }
        if phase == .secured || phase == .clear && settings.allowsPlaintext {
            append(literal: "<mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>")
            for mechanism in settings.mechanisms {
                appendXML(element: "mechanism", text: mechanism.rawValue.utf8)
            }
            append(literal: "</mechanisms>")
            if settings.allowsRegistration {
                append(literal: "<register xmlns='http://jabber.org/features/iq-register'/>")
            }
        }
        if phase == .authenticated {
            append(
                literal: """
                    <bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>\
                    <session xmlns='urn:ietf:params:xml:ns:xmpp-session'><optional/></session>\
                    <sub xmlns='urn:xmpp:features:pre-approval'/>\
                    <sm xmlns='urn:xmpp:sm:3'/>
                    """)
        }
        append(literal: "</stream:features>")
    }

    /// Appends an element of SASL, with data in base64 if there are any.
    mutating func appendSASL(_ name: StaticString, _ data: [UInt8]) {
        append(literal: "<")
        append(literal: name)
        append(literal: " xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>")
        append(contentsOf: Base64.encoded(data))
        append(literal: "</")
        append(literal: name)
        append(literal: ">")
    }

    /// Appends why an authentication has failed, with a text for people if there is one.
    mutating func append(_ failure: SASLFailure, _ text: String) {
        append(literal: "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><")
        append(contentsOf: failure.rawValue.utf8)
        append(literal: "/>")
        if !text.isEmpty {
            append(literal: "<text xml:lang='en'>")
            appendXML(text: text.utf8)
            append(literal: "</text>")
        }
        append(literal: "</failure>")
    }

    /// Appends the beginning of an iq, up to its attributes.
    mutating func appendIQ(_ type: StaticString, id: [UInt8]?) {
        append(literal: "<iq type='")
        append(literal: type)
        append(literal: "'")
        if let id { appendXML(attribute: "id", id) }
    }

    mutating func appendResult(id: [UInt8]?) {
        appendIQ("result", id: id)
        append(literal: "/>")
    }

    /// Appends the result of a registration, with what the user should know of the password.
    mutating func appendResult(id: [UInt8]?, _ remark: Password.Remark?) {
        guard let remark else { return appendResult(id: id) }
        appendIQ("result", id: id)
        append(literal: ">")
        append(remark)
        append(literal: "</iq>")
    }

    /// Appends what the user should know of a password, where a registration has instructions.
    mutating func append(_ remark: Password.Remark) {
        append(literal: "<query xmlns='jabber:iq:register'>")
        appendXML(element: "instructions", text: remark.sentence.utf8)
        append(literal: "</query>")
    }

    /// Appends an error before the client has an address.
    mutating func append(_ error: StanzaError, id: [UInt8]?) {
        appendIQ("error", id: id)
        append(literal: ">")
        append(error)
        append(literal: "</iq>")
    }

    /// Appends the fields that a registration needs.
    mutating func appendRegistrationForm(id: [UInt8]?) {
        appendIQ("result", id: id)
        append(
            literal: """
                ><query xmlns='jabber:iq:register'>\
                <instructions>Choose a name and a password.</instructions>\
                <username/><password/></query></iq>
                """)
    }
}
