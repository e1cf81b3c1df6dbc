// Rules between settings. A rule names the settings it is about, so that a rejection can say where
// each of them comes from.

import CommandSupport
import PresenceCore
import PresenceServer

/// Something that must hold between settings.
struct SettingRule: Sendable {
    /// The settings it is about, in the order in which a rejection names them.
    let names: [String]
    let holds: @Sendable (ServiceSettings) -> Bool
    /// A sentence without its full stop: what is wrong, and what would be right.
    let remedy: String
    /// Which of the settings a rejection shows.
    var shown = Shown.given

    /// Settings that a rejection shows with their values.
    enum Shown {
        /// Those that are not at their default.
        case given
        /// All, since the values are compared with each other.
        case all
    }

    static let all =
        Configuration.Relation.allCases.map(Self.init) + ofService + ofAddresses + ofTLS
        + ofWebhooks + ofPush + ofXMPP

    private static let ofService = [
        Self(
            names: ["auth", "jwt-key"],
            holds: { $0.auth != .jwt || $0.tokenKeyPlace != nil },
            remedy: "--auth jwt needs the keys of tokens: give a file or a URL with --jwt-key"),
        Self(
            names: ["auth", "passwords"],
            holds: { $0.auth != .open || !$0.takesPasswords },
            remedy: "With --auth open, accounts are believed without a password: use "
                + "--auth password, or --auth jwt to accept tokens and passwords"),
        Self(
            names: ["auth", "jwt-key"],
            holds: { $0.auth != .password || $0.tokenKeyPlace == nil },
            remedy: "--auth password accepts no tokens: use --auth jwt with --passwords to accept "
                + "both"),
        Self(
            names: [
                "listen", "listen-tls", "xmpp-listen", "xmpp-tls-listen", "auth",
                "i-know-this-is-open",
            ],
            holds: { $0.auth != .open || $0.isKnownToBeOpen || $0.isOnLoopback },
            remedy: "With --auth open, any client on another machine can log in as any account: "
                + "use --auth jwt or password, listen on 127.0.0.1, or add --i-know-this-is-open"),
        Self(
            names: ["listen", "http", "auth", "i-know-this-is-plain"],
            holds: { $0.auth == .open || $0.isKnownToBePlain || $0.isPlainOnLoopback },
            remedy: "Without TLS, tokens, passwords and keys can be read and used by others on the "
                + "way: let clients use listen-tls and app servers http-tls, and listen on "
                + "127.0.0.1 otherwise; or, if a proxy in front of it terminates TLS, add "
                + "--i-know-this-is-plain"),
        Self(
            names: ["websocket-origins"],
            holds: { settings in
                guard let origins = settings.live.origins else { return true }
                return !origins.isEmpty && origins.allSatisfy(LiveSettings.isOrigin)
            },
            remedy: "An origin is a scheme, a host as browsers send it (xn--… for other letters "
                + "than ASCII), and a port if it is not the usual one, without a path or a slash "
                + "at the end: https://app.example.com"),
        Self(
            names: ["http", "http-tls", "server-key"],
            holds: { $0.serverKeyPath != nil || $0.isHTTPOnLoopback },
            remedy: "Without keys, any client on another machine can do anything over HTTP: set "
                + "server-key, or listen on 127.0.0.1"),
    ]
}

extension SettingRule {
    private init(_ relation: Configuration.Relation) {
        let (names, remedy) = relation.settings
        self.init(
            names: names, holds: { $0.configuration.satisfies(relation) },
            remedy: remedy ?? "\(names[0]) must not exceed \(names[1])", shown: .all)
    }
}

extension Configuration.Relation {
    /// The settings it is about, and what would be right; without that, the first must not exceed
    /// the second.
    fileprivate var settings: (names: [String], remedy: String?) {
        switch self {
        case .subscriptionExpiry: (["subscription-expiry-min", "subscription-expiry-max"], nil)
        case .statusExpiryMin: (["status-expiry-min", "status-expiry-default"], nil)
        case .statusExpiryMax: (["status-expiry-default", "status-expiry-max"], nil)
        case .pageEntries: (["page-entries-default", "page-entries-max"], nil)
        case .customTypes: (["custom-type-min", "custom-type-max"], nil)
        case .customValues: (["custom-value-min", "custom-value-max"], nil)
        case .frames: (["frame-bytes-before-login-max", "frame-bytes-max"], nil)
        case .outboxes: (["outbox-bytes-max", "outbox-bytes-in-all-max"], nil)
        case .backlog:
            (
                ["backlog-bytes-max", "outbox-bytes-max", "server-frame-bytes-max"],
                "A full outbox and one answer must fit into the backlog"
            )
        case .states:
            (
                [
                    "server-frame-bytes-max", "ext-bytes-max", "sessions-per-account-max",
                    "availability-text-bytes-max",
                ],
                "One state with all its sessions must fit into a frame"
            )
        case .messages:
            (
                [
                    "server-frame-bytes-max", "message-bytes-max", "account-bytes-max",
                    "device-bytes-max",
                ],
                "One message must fit into a frame, in which a byte may become six"
            )
        }
    }
}

extension StartupSettings {
    /// Whether only processes of this machine can reach the clients' ports.
    var isOnLoopback: Bool {
        [listen, tls.listen, tls.xmpp, tls.xmppOverTLS].allSatisfy {
            $0.map(ServiceSettings.isLoopback) ?? true
        }
    }

    /// The same for the HTTP API; also true without one.
    var isHTTPOnLoopback: Bool {
        [http, tls.http].allSatisfy { $0.map(ServiceSettings.isLoopback) ?? true }
    }

    /// Whether what is sent without TLS stays on this machine.
    var isPlainOnLoopback: Bool {
        ServiceSettings.isLoopback(listen) && http.map(ServiceSettings.isLoopback) ?? true
    }
}

extension ServiceSettings {
    static func isLoopback(_ address: String) -> Bool {
        guard let host = parseAddress(address)?.host else { return false }
        return host == "localhost" || host.hasPrefix("127.") || host == "::1"
    }
}
