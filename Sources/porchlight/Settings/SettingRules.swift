// Rules between settings. A rule names the settings it is about, so that a refusal can say where
// each of them comes from.

import PresenceCore
import PresenceServer

/// Something that must hold between settings.
struct SettingRule: Sendable {
    /// The settings it is about, in the order in which a refusal names them.
    let names: [String]
    let holds: @Sendable (ServiceSettings) -> Bool
    /// What would be right.
    let remedy: String

    private static func order(_ low: String, _ high: String, _ holds: @escaping Holds) -> Self {
        Self(names: [low, high], holds: holds, remedy: "\(low) must not exceed \(high)")
    }

    typealias Holds = @Sendable (ServiceSettings) -> Bool

    static let all = ofLimits + ofWebhooks

    private static let ofLimits = [
        order("subscription-expiry-min", "subscription-expiry-max") {
            $0.limits.subscriptionExpirySecondsMin <= $0.limits.subscriptionExpirySecondsMax
        },
        order("status-expiry-min", "status-expiry-default") {
            $0.limits.statusExpirySecondsMin <= $0.limits.statusExpirySecondsDefault
        },
        order("status-expiry-default", "status-expiry-max") {
            $0.limits.statusExpirySecondsDefault <= $0.limits.statusExpirySecondsMax
        },
        order("page-entries-default", "page-entries-max") {
            $0.limits.pageEntriesDefault <= $0.limits.pageEntriesMax
        },
        order("custom-type-min", "custom-type-max") {
            $0.limits.customTypeMin <= $0.limits.customTypeMax
        },
        order("custom-value-min", "custom-value-max") {
            $0.limits.customValueMin <= $0.limits.customValueMax
        },
        order("frame-bytes-before-login-max", "frame-bytes-max") {
            $0.limits.frameBytesBeforeLoginMax <= $0.limits.frameBytesMax
        },
        order("outbox-bytes-max", "outbox-bytes-in-all-max") {
            $0.configuration.connection.outboxBytesMax
                <= $0.configuration.connection.outboxBytesInAllMax
        },
        Self(
            names: ["backlog-bytes-max", "outbox-bytes-max", "server-frame-bytes-max"],
            holds: {
                let connection = $0.configuration.connection
                return connection.backlogBytesMax
                    >= connection.outboxBytesMax + $0.limits.serverFrameBytesMax
            },
            remedy: "a full outbox and one answer must fit into the backlog"),
        Self(
            names: ["server-frame-bytes-max", "ext-bytes-max", "sessions-per-account-max"],
            holds: { $0.limits.serverFrameBytesMax >= $0.limits.stateBytesMax },
            remedy: "one state with all its sessions must fit into a frame"),
        Self(
            names: ["auth", "jwt-key"],
            holds: { $0.auth != .jwt || $0.tokenKeyPlace != nil },
            remedy: "--auth jwt needs the keys of tokens: give a file or a URL with --jwt-key"),
        Self(
            names: ["listen", "auth", "i-know-this-is-open"],
            holds: { $0.auth != .open || $0.isKnownToBeOpen || $0.isOnLoopback },
            remedy: "with --auth open, any client that reaches this address can log in as any "
                + "account: use --auth jwt, listen on 127.0.0.1, or add --i-know-this-is-open"),
        Self(
            names: ["http", "server-key"],
            holds: { $0.http == nil || $0.serverKeyPath != nil || $0.isHTTPOnLoopback },
            remedy: "without keys, any client that reaches this address can do anything: set "
                + "server-key, or listen on 127.0.0.1"),
    ]
}

extension ServiceSettings {
    fileprivate var limits: Limits { configuration.engine.limits }

    /// Whether only processes of this machine can reach the native port.
    var isOnLoopback: Bool { Self.isLoopback(listen) }

    /// The same for the HTTP API.
    var isHTTPOnLoopback: Bool { http.map(Self.isLoopback) ?? false }

    private static func isLoopback(_ address: String) -> Bool {
        guard let host = parseAddress(address)?.host else { return false }
        return host == "localhost" || host.hasPrefix("127.") || host == "::1"
    }
}

extension Limits {
    /// The maximum size of one state on the wire. An escaped byte becomes six; a text appears in
    /// the event and in the status.
    fileprivate var stateBytesMax: Int {
        1_024 + 2 * 6 * extBytesMax + 6 * accountBytesMax
            + (sessionsPerAccountMax + 1) * (64 + 6 * deviceBytesMax)
    }
}
