public import PresenceGateway
public import PresenceTokens

/// What whoever runs the service decides of its HTTP API.
public struct HTTPConfiguration: Sendable {
    /// Where it listens: a numeric address.
    public var host = "127.0.0.1"
    /// The port; 0: any.
    public var port = 7_401
    /// Who may use it.
    public var access: HTTPAccess
    /// The bounds of what clients can take.
    public var limits = HTTPLimits()
    /// The bounds of what is asked of the service at the same time.
    public var gateway = GatewayLimits()

    /// The defaults, for those who `access` lets in.
    public init(access: HTTPAccess) {
        self.access = access
    }
}

/// Who may use the API.
public enum HTTPAccess: Sendable {
    /// Whoever has one of these keys; nobody while there is none.
    case keys(KeyRing)
    /// The same; but while there is none, everybody who asks for localhost or for a numeric
    /// address. For loopback only.
    case keysOrLocal(KeyRing)
}

/// The bounds of what clients can take.
public struct HTTPLimits: Sendable {
    /// Connections at the same time; beyond, new ones wait in the kernel.
    public var connectionsMax = 256
    /// Readers of the feed at the same time.
    public var feedReadersMax = 32
    /// Bytes of a request's body.
    public var bodyBytesMax = 1 << 16
    /// Bytes of a request's header in all.
    public var headerBytesMax = 1 << 15
    /// Seconds from a request's header to the end of its body.
    public var requestSeconds = 10
    /// Seconds in which a client that has something to take must have taken some of it.
    public var progressSeconds = 15
    /// Seconds for which a connection may be without a request, or with half a header.
    public var idleSeconds = 30
    /// Seconds after which a feed that is silent says that it is there.
    public var feedHeartbeatSeconds = 15

    /// The defaults.
    public init() {}

    /// With so many connections each is closed after its answer, so that there is room for
    /// others: for a probe, above all.
    var connectionsToShed: Int { connectionsMax * 3 / 4 }
}
