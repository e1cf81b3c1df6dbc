public import PresenceCore

// The protocol's words for the cases of the core's enumerations.

extension ClientKind {
    /// The kinds that a native client may name.
    static var ofNativeClients: [Self] { allCases.filter { $0 != .xmpp } }

    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .android: "android"
        case .ios: "ios"
        case .harmony: "harmony"
        case .windows: "windows"
        case .macos: "macos"
        case .linux: "linux"
        case .web: "web"
        case .server: "server"
        case .other: "other"
        case .xmpp: "xmpp"
        }
    }
}

extension Cause {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .login: "login"
        case .logout: "logout"
        case .disconnect: "disconnect"
        case .publish: "publish"
        case .cleared: "cleared"
        case .expired: "expired"
        case .kicked: "kicked"
        case .restart: "restart"
        case .sync: "sync"
        case .changed: "changed"
        case .hidden: "hidden"
        case .shown: "shown"
        }
    }
}

extension SessionEntry.Connectedness {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .connected: "connected"
        case .inGrace: "grace"
        case .pushOnly: "push"
        case .awaitingReturn: "restart"
        case .hidden: "hidden"
        }
    }
}

extension CloseReason {
    /// The number on the wire.
    public var code: Int {
        switch self {
        case .protocolViolation: 4_400
        case .loginTimeout: 4_401
        case .tokenExpired: 4_402
        case .idleTimeout: 4_408
        case .replaced: 4_409
        case .kicked: 4_410
        case .tooSlow: 4_429
        case .shuttingDown: 4_503
        case .overloaded: 4_504
        }
    }

    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .protocolViolation: "protocol_violation"
        case .loginTimeout: "login_timeout"
        case .tokenExpired: "token_expired"
        case .idleTimeout: "idle_timeout"
        case .replaced: "replaced"
        case .kicked: "kicked"
        case .tooSlow: "too_slow"
        case .shuttingDown: "shutting_down"
        case .overloaded: "overloaded"
        }
    }
}

extension LoginList {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .none: "none"
        case .online: "online"
        case .all: "all"
        }
    }
}

extension ConnectionEnd {
    /// The word on the wire: the reason of `close`, if one was sent.
    public var word: StaticString {
        switch self {
        case .logout: "logout"
        case .kicked: "kicked"
        case .replaced: "replaced"
        case .silent: "idle_timeout"
        case .lost: "lost"
        case .tooSlow: "too_slow"
        case .violation: "protocol_violation"
        }
    }
}

extension WhySubscription.End {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .expired: "expired"
        case .byAccount: "unsubscribed"
        case .byAppServer: "unsubscribed_by_app_server"
        }
    }
}

extension WhyEvent.Known {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .no: "no"
        case .yes: "yes"
        case .unknown: "unknown"
        }
    }
}

extension WhyFate.What {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .sent: "sent"
        case .listed: "listed"
        case .conflated: "conflated"
        case .waiting: "waiting"
        case .dropped: "dropped"
        case .uncertain: "uncertain"
        case .replaced: "replaced"
        case .inProgress: "in_progress"
        }
    }
}

extension WhyMessage.Fate {
    /// The word on the wire.
    public var word: StaticString {
        switch self {
        case .waiting: "waiting"
        case .taken: "taken"
        case .expired: "expired"
        case .discarded: "discarded"
        case .lost: "lost"
        }
    }
}
