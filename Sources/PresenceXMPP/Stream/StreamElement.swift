internal import XML

/// An element directly below a stream, as far as the negotiation has to know it.
enum StreamElement {
    case startTLS
    case auth, response, abort
    case bind(IQ), session(IQ), registration(IQ)
    case stanza(Stanza.Kind)
    case management(ManagementElement)
    /// What is not offered, and some clients use without asking: its answer, which may be empty.
    case notOffered(answer: StaticString)
    /// The client reports an error, after which the stream is over.
    case error
    case unknown

    /// An iq of type get or set.
    struct IQ {
        let id: [UInt8]?
        let isSet: Bool
        let payload: XMLElement
    }

    init(_ element: XMLElement) {
        switch element.namespace {
        case let name where name.isEqual(to: Namespace.client):
            self = Self.stanza(element)
        case let name where name.isEqual(to: Namespace.sasl):
            self = Self.sasl(element.name)
        case let name where name.isEqual(to: Namespace.tls):
            self = element.name.isEqual(to: "starttls") ? .startTLS : .unknown
        case let name where name.isEqual(to: Namespace.streams):
            self = element.name.isEqual(to: "error") ? .error : .unknown
        case let name where name.isEqual(to: Namespace.streamManagement):
            self = Self.management(element)
        default: self = Self.notOffered(element)
        }
    }

    private static func management(_ element: XMLElement) -> StreamElement {
        let name = element.name
        if name.isEqual(to: "enable") { return .management(.enable) }
        if name.isEqual(to: "resume") { return .management(.resume) }
        if name.isEqual(to: "r") { return .management(.request) }
        guard name.isEqual(to: "a") else { return .unknown }
        return .management(.answer(count: StreamManagement.count(element.attribute("h"))))
    }

    private static func notOffered(_ element: XMLElement) -> StreamElement {
        func isNamed(_ names: StaticString..., in namespace: StaticString) -> Bool {
            names.contains { element.isNamed($0, in: namespace) }
        }
        if isNamed("active", "inactive", in: Namespace.clientState) {
            return .notOffered(answer: "")
        }
        if isNamed("compress", in: Namespace.compression) {
            return .notOffered(
                answer: """
                    <failure xmlns='http://jabber.org/protocol/compress'><unsupported-method/>\
                    </failure>
                    """)
        }
        return .unknown
    }

    private static func sasl(_ name: ArraySlice<UInt8>) -> StreamElement {
        if name.isEqual(to: "auth") { return .auth }
        if name.isEqual(to: "response") { return .response }
        return name.isEqual(to: "abort") ? .abort : .unknown
    }

    private static func stanza(_ element: XMLElement) -> StreamElement {
        if element.name.isEqual(to: "message") { return .stanza(.message) }
        if element.name.isEqual(to: "presence") { return .stanza(.presence) }
        guard element.name.isEqual(to: "iq") else { return .unknown }
        let isSet = element.attribute("type")?.isEqual(to: "set") ?? false
        guard isSet || element.attribute("type")?.isEqual(to: "get") ?? false,
            let payload = element.elements.first(where: { _ in true })
        else { return .stanza(.iq) }
        let iq = IQ(id: element.attribute("id").map { Array($0) }, isSet: isSet, payload: payload)
        if payload.isNamed("bind", in: Namespace.bind), isSet {
            return .bind(iq)
        }
        if payload.isNamed("session", in: Namespace.session), isSet {
            return .session(iq)
        }
        return payload.isNamed("query", in: Namespace.register) ? .registration(iq) : .stanza(.iq)
    }
}
