import PresenceXMPP
public import TLSSessions

/// Where XMPP clients connect, and as what.
public struct XMPPListening: Sendable {
    /// A numeric address.
    public struct Place: Hashable, Sendable {
        /// The host.
        public var host: String
        /// The port; 0 for any free port.
        public var port: UInt16

        /// An address.
        public init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    /// Where clients connect without TLS, which they may begin later; nil: nowhere.
    public var plain: Place?
    /// Where clients connect over TLS; nil: nowhere.
    public var encrypted: Place?
    /// The certificates for both; a reload replaces them. Nil: there is no TLS.
    public var contexts: XMPPContexts?
    /// The domains of the service, the first of which is for clients that name none.
    public var domains: [[UInt8]]
    /// Whether clients may authenticate without encryption.
    public var allowsPlaintext = false
    /// Whether clients may register accounts (XEP-0077), which need passwords.
    public var allowsRegistration = false
    /// The most bytes of a stanza after the login.
    public var stanzaBytesMax = 262_144

    /// Nowhere yet. At least one domain is needed.
    public init(domains: [[UInt8]]) {
        precondition(!domains.isEmpty, "XMPP without a domain")
        self.domains = domains
    }
}

/// The certificates for XMPP clients. They are the same, but a session that began at one listener
/// is not continued at the other.
public struct XMPPContexts: Sendable {
    /// For clients that begin TLS by STARTTLS.
    public var startTLS: TLSContext
    /// For clients that begin with TLS.
    public var overTLS: TLSContext

    /// Both.
    public init(startTLS: TLSContext, overTLS: TLSContext) {
        self.startTLS = startTLS
        self.overTLS = overTLS
    }
}

extension XMPPListening {
    /// Whether this can be the domain of JIDs, in small letters.
    public static func isDomain(_ domain: [UInt8]) -> Bool {
        guard let jid = JID(domain), !hasPort(domain) else { return false }
        return jid.localpart == nil && jid.resource == nil && jid.domain == domain
            && (domain.contains(UInt8(ascii: ":")) || hasLabels(domain))
    }

    /// Whether the labels and the whole are as long as those of DNS may be (RFC 1035, 2.3.4), and
    /// no label begins or ends with a hyphen. Letters beyond ASCII count as one each: how many a
    /// label of them has in DNS (`xn--…`) depends on the letters.
    private static func hasLabels(_ domain: [UInt8]) -> Bool {
        let letters = String(decoding: domain, as: UTF8.self).unicodeScalars
        return letters.count <= 253
            && letters.split(separator: ".", omittingEmptySubsequences: false).allSatisfy {
                1...63 ~= $0.count && $0.first != "-" && $0.last != "-"
            }
    }

    /// Whether there is a colon in what is no literal of IPv6, which has two at least.
    private static func hasPort(_ domain: [UInt8]) -> Bool {
        let colons = domain.count { $0 == UInt8(ascii: ":") }
        let end = domain.lastIndex(of: UInt8(ascii: ":")) ?? domain.startIndex
        let isBehindBracket = domain[..<end].last == UInt8(ascii: "]")
        return colons == 1 || colons > 1 && isBehindBracket
    }
}

/// What the clients of a listener speak.
enum ListenerKind: UInt8, Sendable {
    /// The native protocol.
    case native
    /// The same over TLS.
    case nativeTLS
    /// XMPP, perhaps with TLS later.
    case xmpp
    /// XMPP over TLS.
    case xmppTLS

    /// Whether its clients speak XMPP.
    var isXMPP: Bool { self == .xmpp || self == .xmppTLS }

    /// Whether its connections are encrypted from the beginning.
    var isEncrypted: Bool { self == .nativeTLS || self == .xmppTLS }
}

extension Configuration {
    /// The listeners, in the order in which `Service` binds them: by their numbers.
    var listeners: [ListenerKind] {
        var kinds = [ListenerKind.native]
        if tls != nil { kinds.append(.nativeTLS) }
        if xmpp?.plain != nil { kinds.append(.xmpp) }
        if xmpp?.encrypted != nil { kinds.append(.xmppTLS) }
        return kinds
    }

    /// The numbers of those whose connections are encrypted from the beginning.
    var secureListeners: Set<Int> {
        Set(listeners.indices.filter { listeners[$0].isEncrypted })
    }

    /// The certificates of listeners of XMPP, by their numbers.
    var contextsOfListeners: [Int: TLSContext] {
        guard let contexts = xmpp?.contexts else { return [:] }
        var found: [Int: TLSContext] = [:]
        for (number, kind) in listeners.enumerated() where kind.isXMPP {
            found[number] = kind == .xmpp ? contexts.startTLS : contexts.overTLS
        }
        return found
    }
}
