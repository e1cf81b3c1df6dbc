public import PresenceTokens
public import TLSSessions

/// The operator's settings for the HTTP API.
public struct HTTPConfiguration: Sendable {
    /// Where it listens without TLS; nil: nowhere.
    public var plain: HTTPPlace?
    /// Where it listens for TLS, and with which certificates; nil: nowhere.
    public var secure: (place: HTTPPlace, context: TLSContext)?
    /// Which clients may use it.
    public var access: HTTPAccess
    /// The limits on what clients can use.
    public var limits = HTTPLimits()
    /// The version of the service, for clients.
    public var version = ""
    /// The sentences, a line each, for a result of `why`.
    public var story: @Sendable (_ facts: [UInt8]) throws -> [String] = { _ in [] }
    /// Whether the files of the console are served.
    public var servesConsole = true
    /// Whether all threads of the service respond.
    public var isResponsive: @Sendable () -> Bool = { true }
    /// The wall clock: milliseconds since 1970 UTC.
    public var wallMilliseconds: @Sendable () -> Int64

    /// The defaults, with this access rule and clock.
    public init(access: HTTPAccess, wallMilliseconds: @escaping @Sendable () -> Int64) {
        self.access = access
        self.wallMilliseconds = wallMilliseconds
    }
}

/// An address to listen on.
public struct HTTPPlace: Sendable {
    /// The numeric address.
    public var host: String
    /// The port; 0 for any free port.
    public var port: Int

    /// An address and a port.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

/// Which clients may use the API.
public enum HTTPAccess: Sendable {
    /// Clients with one of these keys; no client while there are no keys.
    case keys(KeyRing)
    /// The same, but while there are no keys, every client whose request is for localhost or for a
    /// numeric address. For loopback only.
    case keysOrLocal(KeyRing)
}

/// The bounds of what clients can take.
public struct HTTPLimits: Sendable {
    /// Concurrent connections. A new one closes the one that has been waiting longest for its
    /// client.
    public var connectionsMax = 256
    /// Readers of the feed at the same time.
    public var feedReadersMax = 32
    /// Bytes of a request's body.
    public var bodyBytesMax = 1 << 18
    /// Bytes of a request's first line. A URL may name 100 publishers of 128 bytes each, of which
    /// every one takes three.
    public var lineBytesMax = 48 << 10
    /// Bytes of a request's fields in all, and their number.
    public var fieldBytesMax = 1 << 15, fieldsMax = 100
    /// Seconds from a request's header to the end of its body.
    public var requestSeconds = 10
    /// Seconds in which a client that has something to take must have taken some of it.
    public var progressSeconds = 15
    /// Seconds for which a connection may be without a request. Proxies keep theirs for 60 s, and
    /// one that sends a request while the connection is closed here answers its client with 502.
    public var idleSeconds = 75
    /// Seconds from the first byte of a request to the end of its header.
    public var headSeconds = 30
    /// Seconds of silence after which a feed sends a heartbeat.
    public var feedHeartbeatSeconds = 15

    /// Whether there are no others to have room for.
    var isForOneUser = false

    /// The defaults.
    public init() {}

    var request: RequestLimits {
        RequestLimits(
            lineBytesMax: lineBytesMax,
            fields: FieldSection.Limits(count: fieldsMax, bytes: fieldBytesMax),
            bodyBytesMax: bodyBytesMax)
    }

    /// Concurrent connections of one address (of a /64, where that is IPv6). A new one closes the
    /// one of that address that has been waiting longest for its client.
    var connectionsPerAddressMax: Int {
        isForOneUser ? connectionsMax : max(1, connectionsMax * 3 / 4)
    }

    /// At this number of connections, each is closed after its response, so that there is room for
    /// others: for a probe, above all.
    var connectionsToShed: Int { isForOneUser ? connectionsMax : connectionsMax * 3 / 4 }
}
