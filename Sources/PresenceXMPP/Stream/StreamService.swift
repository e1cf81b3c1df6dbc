public import PresenceCore
internal import XML

/// What the operator has set for all streams.
public struct StreamSettings: Hashable, Sendable {
    /// The domains of the service in small letters, also IP literals; the first one if a client
    /// names none.
    public let domains: [[UInt8]]
    /// Whether STARTTLS is possible.
    public var offersTLS: Bool
    /// Whether clients may authenticate without encryption.
    public var allowsPlaintext: Bool
    /// The mechanisms that are offered.
    public var mechanisms: [SASLMechanism]
    /// Whether clients may register accounts (XEP-0077).
    public var allowsRegistration: Bool
    /// The most bytes of a stanza before a login. A secret of 8,192 bytes must fit in, as base64.
    public var bytesMaxBeforeLogin: Int
    /// The most bytes of a stanza after it.
    public var bytesMax: Int
    /// Of names and texts.
    public var limits: Limits

    /// Settings with the default limits. At least one domain is needed.
    public init(
        domains: [[UInt8]], offersTLS: Bool, allowsPlaintext: Bool = false,
        mechanisms: [SASLMechanism] = [.plain], allowsRegistration: Bool = false,
        bytesMaxBeforeLogin: Int = 12_000, bytesMax: Int = 262_144, limits: Limits = Limits()
    ) {
        precondition(!domains.isEmpty, "a service without a domain")
        self.domains = domains.map { JID.normalized(domain: $0) }
        self.offersTLS = offersTLS
        self.allowsPlaintext = allowsPlaintext
        self.mechanisms = mechanisms
        self.allowsRegistration = allowsRegistration
        self.bytesMaxBeforeLogin = bytesMaxBeforeLogin
        self.bytesMax = bytesMax
        self.limits = limits
    }

    /// The domain that a client means; nil: none of the service.
    func domain(_ name: some Collection<UInt8>) -> [UInt8]? {
        let name = JID.normalized(domain: name)
        return domains.first { $0 == name }
    }
}

/// What all streams of a loop use: the settings and the reader of XML.
public final class StreamService {
    /// The settings, which may be replaced while there are streams.
    public var settings: StreamSettings {
        didSet { decoder = StanzaDecoder(domains: settings.domains, limits: settings.limits) }
    }
    private(set) var decoder: StanzaDecoder
    /// Reads the stanzas of all streams.
    let reader: XMLReader

    /// The salt of hash tables must be random and secret; zero: one of the system.
    public init(_ settings: StreamSettings, hashSalt: UInt128) {
        self.settings = settings
        decoder = StanzaDecoder(domains: settings.domains, limits: settings.limits)
        reader = XMLReader(hashSalt: hashSalt)
    }
}
