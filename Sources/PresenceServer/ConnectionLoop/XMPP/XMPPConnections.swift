import Passwords
import PresenceCore
import PresenceXMPP

/// What a loop keeps of its XMPP connections, beside `Connection`: by slot, and only for them.
struct XMPPConnections {
    /// What all their streams use.
    let service: StreamService
    let description: ServiceDescription
    /// The number of the listener whose streams begin TLS by STARTTLS.
    let listenerOfSTARTTLS: Int
    /// When the loop was made.
    let begun: Mono
    /// By slot.
    private var clients: [XMPPConnection?] = []
    /// Connections now.
    private(set) var count = 0

    /// Nil: XMPP is not served.
    init?(_ configuration: Configuration, at now: Mono) {
        guard let listening = configuration.xmpp else { return nil }
        let settings = StreamSettings(
            domains: listening.domains, offersTLS: listening.contexts != nil,
            allowsPlaintext: listening.allowsPlaintext,
            mechanisms: configuration.passwords == .only ? SASLMechanism.allCases : [.plain],
            allowsRegistration: listening.allowsRegistration, bytesMax: listening.stanzaBytesMax,
            limits: configuration.engine.limits)
        service = StreamService(settings, hashSalt: UInt.random(in: 1...UInt.max))
        description = ServiceDescription(
            name: Array("Porchlight".utf8), version: Array(configuration.version.utf8))
        listenerOfSTARTTLS = configuration.listeners.firstIndex(of: .xmpp) ?? 0
        begun = now
    }

    /// Holds other limits from now on.
    func apply(_ limits: Limits) { service.settings.limits = limits }

    /// The connection in a slot, if it speaks XMPP.
    subscript(_ slot: Int) -> XMPPConnection? { slot < clients.count ? clients[slot] : nil }

    /// Begins a connection.
    mutating func add(_ slot: Int, isEncrypted: Bool) {
        while clients.count <= slot { clients.append(nil) }
        precondition(clients[slot] == nil, "a slot that is still in use")
        clients[slot] = XMPPConnection(isEncrypted: isEncrypted)
        count += 1
    }

    /// The connection in a slot is gone.
    mutating func remove(_ slot: Int) {
        guard self[slot] != nil else { return }
        clients[slot] = nil
        count -= 1
    }

    /// The place among the service's domains of the one that the client in a slot has named.
    func domain(of slot: Int) -> Int {
        guard let client = self[slot] else { return 0 }
        return service.settings.domains.firstIndex(of: client.stream.domain) ?? 0
    }
}

/// The bare JIDs of the XMPP clients of a loop that are bound, by slot.
///
/// Each write of presences that are shared needs one, and nothing else of the client.
struct BareJIDs {
    private var jids: [[UInt8]] = []

    /// That of the client in a slot; empty before it is bound.
    subscript(_ slot: Int) -> [UInt8] { slot < jids.count ? jids[slot] : [] }

    /// Keeps that of a client. Returns its bytes.
    mutating func set(_ slot: Int, _ account: [UInt8], at domain: [UInt8]) -> UInt16 {
        while jids.count <= slot { jids.append([]) }
        jids[slot].removeAll()
        jids[slot].appendJID(of: account, at: domain)
        return UInt16(jids[slot].count)
    }

    /// The connection in a slot is gone.
    mutating func remove(_ slot: Int) {
        if slot < jids.count { jids[slot] = [] }
    }
}

/// An XMPP client: its stream, and what it waits for.
final class XMPPConnection {
    var stream: XMPPStream
    /// What its request in progress is; nil while there is none.
    var inProgress: XMPPRequestInProgress?
    /// How long its token is valid.
    var term: TokenTerm?
    /// What answers are addressed to; nil before the device is bound.
    var sender: StanzaSender?
    /// What waits for a rate limit.
    var paced = PacedStanzas()
    /// How the stanza arrives that has begun.
    var arrival = StanzaArrival()
    /// The number of the last ping or push.
    private var number: UInt64 = 0
    /// The devices that have presented themselves to it, other than by a subscription.
    var presented = PresentedDevices()

    init(isEncrypted: Bool) {
        stream = XMPPStream(isEncrypted: isEncrypted)
    }

    /// The number of another ping or push.
    func nextNumber() -> UInt64 {
        number += 1
        return number
    }

    /// The device is bound.
    func bind() {
        stream.bound()
        sender = stream.client
    }
}

/// What an XMPP client waits for.
enum XMPPRequestInProgress {
    /// TLS begins when everything is written.
    case encryption
    case authentication
    case registration
    case bind
    case logout
    /// How it presents itself to its subscribers, which is not answered.
    case presence(StanzaHead, Availability)
    /// How it presents itself to an address, or a probe: what is not answered.
    case availability(StanzaHead)
    /// That it is not available any more, and how it says so.
    case hiding(StanzaHead, Availability)
    /// A word to a contact, or a change of one.
    case relation(StanzaHead, RelationChange)
    /// A change of the password, which is answered with what its user should know.
    case password(StanzaHead, Password.Remark?)
    /// Since when a contact is offline.
    case lastSeen(StanzaHead)
    /// What an account has, which is only for those who see it.
    case discovery(StanzaHead, Discovered)
    /// Whether a stanza for another device could be handed to it; nil: that is not answered.
    case relay(StanzaHead?)
    /// Its contacts.
    case roster(StanzaHead)
}

/// What is asked of an account by XEP-0030.
enum Discovered {
    case features
    case items
}
