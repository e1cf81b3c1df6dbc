import PresenceCore
import PresenceWire
import PresenceXMPP

/// What all XMPP clients of a loop use.
struct XMPPService {
    let streams: StreamService
    let description: ServiceDescription
    /// The number of the listener whose streams begin TLS by STARTTLS.
    let listenerOfSTARTTLS: Int
    /// When the loop was made.
    let begun: Mono
    /// The clients that there are.
    var clientCount = 0

    /// Nil: XMPP is not served.
    init?(_ configuration: Configuration, at now: Mono) {
        guard let listening = configuration.xmpp else { return nil }
        let settings = StreamSettings(
            domains: listening.domains, offersTLS: listening.contexts != nil,
            allowsPlaintext: listening.allowsPlaintext,
            mechanisms: configuration.passwords == .only ? SASLMechanism.allCases : [.plain],
            allowsRegistration: listening.allowsRegistration, bytesMax: listening.stanzaBytesMax,
            limits: configuration.engine.limits)
        streams = StreamService(settings, hashSalt: UInt128.random(in: 1...UInt128.max))
        description = ServiceDescription(
            name: Array("Porchlight".utf8), version: Array(configuration.version.utf8))
        listenerOfSTARTTLS = configuration.listeners.firstIndex(of: .xmpp) ?? 0
        begun = now
    }

    /// The domains that it serves.
    var domains: [[UInt8]] { streams.settings.domains }

    /// Holds other limits from now on.
    func apply(_ limits: Limits) { streams.settings.limits = limits }
}

extension ClientProtocol {
    /// The client, if it speaks XMPP: for what has only XMPP clients as receivers.
    var client: XMPPClient? {
        if case .xmpp(let client) = self { client } else { nil }
    }
}

extension Clients {
    /// Makes a new connection one of an XMPP client.
    mutating func beginXMPP(
        _ slot: Int, isEncrypted: Bool, webSocket: InputSplitter? = nil
    ) {
        guard let xmpp else { preconditionFailure("an XMPP client without its service") }
        counters.xmppAccepted += 1
        self.xmpp?.clientCount += 1
        protocols[slot] = .xmpp(
            XMPPClient(
                slot, of: xmpp.streams, isEncrypted: isEncrypted, webSocket: webSocket))
    }
}
