import PresenceCore

/// All operations. `docs/openapi.json` has the same names.
enum Operation: String, CaseIterable, Sendable {
    case queryStates, getState
    case publishStatus, clearStatus
    case listSubscriptions, subscribe, unsubscribe
    case listSubscribers
    case listContacts, relate, removeContact, setVisibility
    case setPassword, removePassword
    case listSessions, kickAccount, kickSession
    case getStats, readFeed
    case getMetrics, getLiveness, getReadiness, getDescription
    case getSDKFile

    /// The path, with names in braces for the variable segments.
    var path: String {
        switch self {
        case .queryStates: "/v1/states"
        case .getState: "/v1/accounts/{account}/state"
        case .publishStatus, .clearStatus: "/v1/accounts/{account}/statuses/{type}"
        case .listSubscriptions, .subscribe, .unsubscribe: "/v1/accounts/{account}/subscriptions"
        case .listSubscribers: "/v1/accounts/{account}/subscribers"
        case .listContacts: "/v1/accounts/{account}/contacts"
        case .relate, .removeContact: "/v1/accounts/{account}/contacts/{contact}"
        case .setVisibility: "/v1/accounts/{account}/visibility"
        case .setPassword, .removePassword: "/v1/accounts/{account}/password"
        case .listSessions, .kickAccount: "/v1/accounts/{account}/sessions"
        case .kickSession: "/v1/accounts/{account}/sessions/{device}"
        case .getStats: "/v1/stats"
        case .readFeed: "/v1/feed"
        case .getMetrics: "/metrics"
        case .getLiveness: "/livez"
        case .getReadiness: "/readyz"
        case .getDescription: "/openapi.json"
        case .getSDKFile: "/sdk/{file}"
        }
    }

    /// The method.
    var method: HTTPMethod {
        switch self {
        case .queryStates, .subscribe, .relate: .post
        case .publishStatus, .setVisibility, .setPassword: .put
        case .clearStatus, .unsubscribe, .removeContact, .removePassword, .kickAccount,
            .kickSession:
            .delete
        default: .get
        }
    }

    /// Whether the operation needs no key.
    var isPublic: Bool {
        switch self {
        case .getLiveness, .getReadiness, .getDescription, .getSDKFile: true
        default: false
        }
    }

    /// The members that the body may have; nil if there is no body.
    var bodyMembers: [Refusal.Field]? {
        switch self {
        case .queryStates: [.type, .accounts]
        case .publishStatus: [.value, .expiry, .ext, .onlineOnly, .sync]
        case .subscribe: [.type, .expiry, .publishers, .sync]
        case .relate: [.action, .text, .name, .groups]
        case .setVisibility: [.visibility]
        case .setPassword: [.password]
        default: nil
        }
    }
}
