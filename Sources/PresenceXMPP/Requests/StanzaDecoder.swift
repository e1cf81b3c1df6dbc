// Stanzas of a bound stream as typed requests: the table of docs/XMPP.md, row by row. Pure: the
// engine decides whether the request is allowed, and carries it out.
//
// What an error must not be answered with (a stanza that is an error itself, an answer) is ignored
// here, in one place.

public import PresenceCore
internal import XML

/// What a stanza was decoded to.
public enum DecodedStanza: Hashable, Sendable {
    /// A valid request.
    case request(XMPPRequest, StanzaHead)
    /// Answer with this error.
    case rejected(StanzaError, StanzaHead)
    /// The sender claims to be another: a stream error.
    case invalidFrom
}

/// The client whose stanzas are decoded.
public struct StanzaSender: Hashable, Sendable {
    /// The account.
    public var account: [UInt8]
    /// The device.
    public var device: [UInt8]
    /// The domain of its stream.
    public var domain: [UInt8]
    /// The language of its stream; empty: not known.
    public var language: [UInt8] = []
}

/// Decodes stanzas of clients.
public struct StanzaDecoder: Sendable {
    let domains: [[UInt8]]
    let limits: Limits

    /// A decoder of a service that has these domains.
    public init(domains: [[UInt8]], limits: Limits) {
        self.domains = domains.map { JID.normalized(domain: $0) }
        self.limits = limits
    }

    /// Decodes a stanza of a client that has bound its device.
    public func decode(_ stanza: Stanza, from sender: StanzaSender) -> DecodedStanza {
        let head = StanzaHead(stanza)
        let stanza = stanza.element
        let isError = stanza.attribute("type")?.isEqual(to: "error") ?? false
        do throws(StanzaError) {
            guard try isOwn(stanza.attribute("from"), sender) else { return .invalidFrom }
            let request =
                switch head.kind {
                case .presence: try presence(stanza, head, sender)
                case .iq: try iq(stanza, head, sender)
                case .message: try message(stanza, head, sender)
                }
            return .request(request, head)
        } catch {
            let isAnswer = head.kind == .iq && Self.isAnswer(stanza)
            return isError || isAnswer ? .request(.ignore, head) : .rejected(error, head)
        }
    }

    static func isAnswer(_ iq: XMLElement) -> Bool {
        guard let type = iq.attribute("type") else { return false }
        return type.isEqual(to: "result") || type.isEqual(to: "error")
    }

    // MARK: - Addresses

    /// Whether a `from` is the sender's own bare or full JID, or absent (RFC 6120, 8.1.2.1). An
    /// empty one names no account.
    private func isOwn(
        _ from: ArraySlice<UInt8>?, _ sender: StanzaSender
    ) throws(StanzaError) -> Bool {
        guard let from, !from.isEmpty else { return true }
        guard let jid = JID(from), jid.domain == sender.domain, let localpart = jid.localpart,
            Localpart.account(of: localpart) == sender.account
        else { return false }
        // A client may not have noticed that its resource is another than it wished to have.
        return jid.resource.map { Resource.device(wished: $0) == sender.device } ?? true
    }

    /// What an address of the service means.
    func address(_ text: [UInt8]?) throws(StanzaError) -> StanzaAddress {
        guard let text else { return .none }
        guard let jid = JID(text) else { throw .jidMalformed }
        guard domains.contains(jid.domain) else { throw .remoteServerNotFound }
        guard let localpart = jid.localpart else { return .service }
        let account = try account(ofLocalpart: localpart)
        guard let resource = jid.resource else { return .account(account) }
        let device = Resource.device(of: resource)
        let fits = (device?.count ?? 0) <= limits.deviceBytesMax
        return .device(account: account, device: fits ? device : nil)
    }

    /// The bare JID of an account as a name of an account.
    func account(_ text: [UInt8]) throws(StanzaError) -> [UInt8] {
        guard let jid = JID(text) else { throw .jidMalformed }
        guard domains.contains(jid.domain) else { throw .remoteServerNotFound }
        return try account(ofLocalpart: jid.localpart ?? [])
    }

    private func account(ofLocalpart localpart: [UInt8]) throws(StanzaError) -> [UInt8] {
        guard let account = Localpart.account(of: localpart),
            account.count <= limits.accountBytesMax
        else { throw .jidMalformed }
        return account
    }
}
