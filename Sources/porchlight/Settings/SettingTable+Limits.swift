// The limits: of connections and memory, and those of the protocol, which `login` tells.

import PresenceCore
import PresenceServer

extension SettingTable {
    static let connections = SettingGroup(
        title: "Connections and memory",
        settings: [
            .count(
                "connections-max", \.configuration.admission.connectionsMax, 16...10_000_000,
                .things,
                "Connections in all; never more than the descriptors of the process, less 64."),
            .count(
                "http-connections-max", \.httpConnectionsMax, 8...100_000, .things,
                "Connections of the HTTP API, at most a quarter of the descriptors; others wait.",
                takesEffect: .atRestart),
            .count(
                "connections-per-address-max",
                \.configuration.admission.connectionsPerAddressMax, 1...10_000_000, .things,
                unset: "any number", "Connections from one address; beyond, 4504."),
            .count(
                "login-timeout", \.configuration.connection.loginSeconds, 1...300, .seconds,
                "Time until a connection must have logged in, whatever it sends."),
            .count(
                "frame-timeout", \.configuration.connection.frameSeconds, 1...300, .seconds,
                "Time in which a frame that has begun must be complete."),
            .count(
                "write-timeout", \.configuration.connection.progressSeconds, 1...300, .seconds,
                "Time in which a client must have taken some of what waits for it."),
            .count(
                "outbox-bytes-max", \.configuration.connection.outboxBytesMax,
                4_096...67_108_864, .bytes,
                "Events that wait for one client; beyond, only the newest state of each counts."),
            .count(
                "outbox-bytes-in-all-max", \.configuration.connection.outboxBytesInAllMax,
                1_048_576...1_099_511_627_776, .bytes,
                "What waits for all clients together; beyond, every outbox counts as full."),
            .count(
                "backlog-bytes-max", \.configuration.connection.backlogBytesMax,
                131_072...1_073_741_824, .bytes,
                "Answers and expiries included; a client for whom more waits is closed."),
            .count(
                "memory-bytes-max", \.configuration.admission.memoryBytesMax,
                67_108_864...17_592_186_044_416, .bytes,
                unset: "80 % of the machine",
                "Memory of the process; beyond, logins and subscriptions get 503."
            ),
            .count(
                "store-pending-max", \.configuration.admission.storePendingMax,
                1_000...10_000_000, .things,
                "Writes that wait for the disk; beyond, what must be stored gets 503."),
            .count(
                "accounts-max", \.configuration.engine.limits.accountsMax, 100...1_000_000_000,
                .things, "Accounts known at a time: online, watching, watched or seen before."),
            .count(
                "remember", \.configuration.engine.rememberSeconds, 86_400...315_360_000,
                .seconds,
                "Time for which an account that has gone, and that nobody watches, is remembered."),
        ])

    static let names = SettingGroup(
        title: "Names and texts",
        settings: [
            // Who judges tokens goes by it, too.
            .count(
                "account-bytes-max", \.configuration.engine.limits.accountBytesMax, 1...255,
                .bytes, "An account's name, in UTF-8.", takesEffect: .atRestart),
            .count(
                "device-bytes-max", \.configuration.engine.limits.deviceBytesMax, 1...255,
                .bytes, "A device's name, in UTF-8."),
            .count(
                "ext-bytes-max", \.configuration.engine.limits.extBytesMax, 0...32_768, .bytes,
                "The text of a status, in UTF-8."),
            .count(
                "kick-reason-bytes-max", \.configuration.engine.limits.kickReasonBytesMax,
                0...4_096, .bytes, "The reason that an app server gives for a kick, in UTF-8."),
            .count(
                "request-id-bytes-max", \.configuration.engine.limits.requestIDBytesMax,
                1...1_024, .bytes, "The id of a request, where it is a text."),
            .count(
                "custom-type-min", \.configuration.engine.limits.customTypeMin, 2...65_535,
                .things, "The lowest type of an app's own kinds of state."),
            .count(
                "custom-type-max", \.configuration.engine.limits.customTypeMax, 2...65_535,
                .things, "The highest type."),
            .count(
                "custom-value-min", \.configuration.engine.limits.customValueMin,
                4...2_147_483_647, .things,
                "The lowest value that an app may publish; lower ones are the service's own."),
            .count(
                "custom-value-max", \.configuration.engine.limits.customValueMax,
                4...2_147_483_647, .things, "The highest value that an app may publish."),
        ])

    static let requests = SettingGroup(
        title: "Accounts and requests",
        settings: [
            .count(
                "subscriptions-per-account-max",
                \.configuration.engine.limits.subscriptionsPerAccountMax, 1...100_000, .things,
                "Subscriptions of one account at a time, over all types."),
            .count(
                "sessions-per-account-max",
                \.configuration.engine.limits.sessionsPerAccountMax, 1...250, .things,
                "Sessions of one account at a time."),
            .count(
                "statuses-per-account-max",
                \.configuration.engine.limits.statusesPerAccountMax, 1...10_000, .things,
                "Statuses of one account at a time, over all types."),
            .count(
                "publishers-per-request-max",
                \.configuration.engine.limits.publishersPerRequestMax, 1...1_000, .things,
                "Publishers that one request names."),
            .count(
                "accounts-per-query-max",
                \.configuration.engine.limits.accountsPerQueryMax, 1...2_000, .things,
                "Accounts that one query asks for."),
            .count(
                "page-entries-max", \.configuration.engine.limits.pageEntriesMax, 1...10_000,
                .things, "Entries on one page of a listing."),
            .count(
                "page-entries-default", \.configuration.engine.limits.pageEntriesDefault,
                1...10_000, .things, "Entries on a page where the request does not say."),
        ])

    static let expiry = SettingGroup(
        title: "Expiry",
        settings: [
            .count(
                "subscription-expiry-min",
                \.configuration.engine.limits.subscriptionExpirySecondsMin, 1...315_360_000,
                .seconds, "The shortest subscription."),
            .count(
                "subscription-expiry-max",
                \.configuration.engine.limits.subscriptionExpirySecondsMax, 1...315_360_000,
                .seconds, "The longest subscription."),
            .count(
                "status-expiry-min", \.configuration.engine.limits.statusExpirySecondsMin,
                1...315_360_000, .seconds, "The shortest life of a status."),
            .count(
                "status-expiry-max", \.configuration.engine.limits.statusExpirySecondsMax,
                1...315_360_000, .seconds, "The longest life of a status."),
            .count(
                "status-expiry-default",
                \.configuration.engine.limits.statusExpirySecondsDefault, 1...315_360_000,
                .seconds, "The life of a status where the request does not say."),
        ])

    static let frames = SettingGroup(
        title: "Frames",
        settings: [
            // Buffers of these sizes are made once, in HTTP and webhooks, too.
            .count(
                "frame-bytes-max", \.configuration.engine.limits.frameBytesMax,
                1_024...16_777_216, .bytes, "A client's frame.", takesEffect: .atRestart),
            .count(
                "frame-bytes-before-login-max",
                \.configuration.engine.limits.frameBytesBeforeLoginMax, 1_024...16_777_216,
                .bytes, "A client's frame before it has logged in.", takesEffect: .atRestart),
            .count(
                "server-frame-bytes-max",
                \.configuration.engine.limits.serverFrameBytesMax, 65_536...67_108_864, .bytes,
                "A frame of the service; longer lists are split.", takesEffect: .atRestart),
        ])

    static let feed = SettingGroup(
        title: "The feed",
        settings: [
            // The events that there are lie in memory made for these.
            .count(
                "feed-bytes-max", \.configuration.feed.feedBytesMax, 1_048_576...17_179_869_184,
                .bytes, "Events that are kept for readers to go on from.",
                takesEffect: .atRestart),
            .count(
                "feed-time", \.configuration.feed.feedSeconds, 10...604_800, .seconds,
                "How long they are kept, and how long for nobody once the last reader has left.",
                takesEffect: .atRestart),
            .count(
                "feed-readers-max", \.configuration.feed.readersMax, 1...1_000, .things,
                "Connections that read the feed at a time.", takesEffect: .atRestart),
        ])
}
