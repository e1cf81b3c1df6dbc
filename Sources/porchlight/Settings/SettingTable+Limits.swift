// The limits: of connections and memory, and those of the protocol, which `login` announces.

import EventLoop
import PresenceCore
import PresenceServer

extension SettingTable {
    static let connections = SettingGroup(
        title: "Connections and memory",
        settings: [
            .count(
                "connections-max", \Live.admission.connectionsMax, 16...10_000_000, .things,
                "Connections of clients; at most the descriptor limit less a reserve."),
            .count(
                "http-connections-max", \Startup.httpConnectionsMax, 8...100_000, .things,
                "Connections of the HTTP API; at most an eighth of the descriptors."),
            .count(
                "http-idle-seconds", \Live.httpIdleSeconds, 5...3_600, .seconds,
                "Time that a connection of the HTTP API is kept without a request; longer than a "
                    + "proxy in front keeps it."),
            .count(
                "connections-per-address-max", \Live.admission.connectionsPerAddressMax,
                1...10_000_000, .things, unset: "unlimited",
                "Connections from one address, at most three quarters of all; above, 4504."),
            .count(
                "login-timeout", \Live.connection.loginSeconds, 1...300, .seconds,
                "Time within which a connection must log in, whatever it sends; XMPP clients have "
                    + "xmpp-login-timeout."),
            .count(
                "frame-timeout", \Live.connection.frameSeconds, 1...300, .seconds,
                "Time within which a frame, or each 64 KiB of it, must be complete once it has "
                    + "begun."),
            .count(
                "write-timeout", \Live.connection.progressSeconds, 1...300, .seconds,
                "Time within which a client must read some of its pending bytes."),
            .count(
                "outbox-bytes-max", \Live.connection.outboxBytesMax, 4_096...67_108_864, .bytes,
                "Events pending for one client; above, only the newest state per publisher is "
                    + "sent."),
            .count(
                "outbox-bytes-in-all-max", \Live.connection.outboxBytesInAllMax,
                1_048_576...1_099_511_627_776, .bytes,
                "Bytes pending for all clients, with what the kernel may keep for each, divided "
                    + "among the loops; above, the outboxes of all slow clients count as full."),
            .count(
                "large-input-bytes-max", \Live.connection.largeInputBytesMax,
                1_048_576...1_099_511_627_776, .bytes,
                "Bytes of clients' messages above 64 KiB that are not complete or wait for a rate "
                    + "limit, divided among the loops; above, a connection of the address and "
                    + "account with most of them is closed."),
            .count(
                "backlog-bytes-max", \Live.connection.backlogBytesMax, 131_072...1_073_741_824,
                .bytes,
                "Bytes pending for one client, answers included; above, its connection is closed."),
            .count(
                "memory-bytes-max", \Live.admission.memoryBytesMax, 67_108_864...17_592_186_044_416,
                .bytes, unset: "auto",
                "Memory of the process; above, logins and subscriptions get error 503. auto: 80 % "
                    + "of the least limit of its control groups, or of the machine's memory."
            ).whenUnset { MemoryLimit.current().automaticMax },
            .count(
                "store-pending-max", \Live.admission.storePendingMax, 1_000...10_000_000, .things,
                "Writes pending for the disk; above, requests that must be stored get error 503."),
            .count(
                "accounts-max", \Live.limits.accountsMax, 100...1_000_000_000, .things,
                "Accounts known at a time: online, subscribers, publishers or seen before."),
            .count(
                "remember", \Live.engine.rememberSeconds, 86_400...315_360_000, .seconds,
                "Time that an account is remembered that is offline and has no subscribers."),
        ])

    static let names = SettingGroup(
        title: "Names and texts",
        settings: [
            // The verifier of tokens uses it, too.
            .count(
                "account-bytes-max", \Startup.accountBytesMax, 1...Limits.nameBytesMax, .bytes,
                "Length of an account's name in UTF-8."),
            .count(
                "device-bytes-max", \Live.limits.deviceBytesMax, 1...Limits.nameBytesMax, .bytes,
                "Length of a device's name in UTF-8."),
            .count(
                "ext-bytes-max", \Live.limits.extBytesMax, 0...32_768, .bytes,
                "Length of a status' text in UTF-8."),
            .count(
                "kick-reason-bytes-max", \Live.limits.kickReasonBytesMax, 0...4_096, .bytes,
                "Length of the reason for a kick in UTF-8."),
            .count(
                "request-text-bytes-max", \Live.limits.requestTextBytesMax, 0...4_096, .bytes,
                "Length of the text of a contact's request in UTF-8."),
            .count(
                "availability-text-bytes-max", \Live.limits.availabilityTextBytesMax, 0...4_096,
                .bytes, "Length of the text of a device's availability in UTF-8."),
            .count(
                "request-id-bytes-max", \Live.limits.requestIDBytesMax, 1...1_024, .bytes,
                "Length of a request's id, if it is a string."),
            .count(
                "custom-type-min", \Live.limits.customTypeMin, 2...65_535, .things,
                "The lowest event type of an app's own."),
            .count(
                "custom-type-max", \Live.limits.customTypeMax, 2...65_535, .things,
                "The highest event type of an app's own."),
            .count(
                "custom-value-min", \Live.limits.customValueMin, 4...2_147_483_647, .things,
                "The lowest value that an app may publish; lower ones are reserved."),
            .count(
                "custom-value-max", \Live.limits.customValueMax, 4...2_147_483_647, .things,
                "The highest value that an app may publish."),
        ])

    static let requests = SettingGroup(
        title: "Accounts and requests",
        settings: [
            .count(
                "subscriptions-per-account-max", \Live.limits.subscriptionsPerAccountMax,
                1...100_000, .things, "Subscriptions of one account at a time, over all types."),
            .count(
                "sessions-per-account-max", \Live.limits.sessionsPerAccountMax, 1...250, .things,
                "Sessions of one account at a time."),
            .count(
                "statuses-per-account-max", \Live.limits.statusesPerAccountMax, 1...10_000, .things,
                "Statuses of one account at a time, over all types."),
            .count(
                "contacts-per-account-max", \Live.limits.contactsPerAccountMax, 1...10_000, .things,
                "Contacts of one account."),
            .count(
                "requests-per-account-max", \Live.limits.requestsPerAccountMax, 1...10_000, .things,
                "Requests of contacts that one account has not answered."),
            .count(
                "publishers-per-request-max", \Live.limits.publishersPerRequestMax, 1...1_000,
                .things, "Publishers in one request."),
            .count(
                "accounts-per-query-max", \Live.limits.accountsPerQueryMax, 1...2_000, .things,
                "Accounts in one query."),
            .count(
                "page-entries-max", \Live.limits.pageEntriesMax, 1...10_000, .things,
                "Entries on one page of a list."),
            .count(
                "page-entries-default", \Live.limits.pageEntriesDefault, 1...10_000, .things,
                "Entries on one page of a list by default."),
        ])

    static let expiry = SettingGroup(
        title: "Expiry",
        settings: [
            .count(
                "subscription-expiry-min", \Live.limits.subscriptionExpirySecondsMin,
                1...315_360_000, .seconds, "The shortest lifetime of a subscription."),
            .count(
                "subscription-expiry-max", \Live.limits.subscriptionExpirySecondsMax,
                1...315_360_000, .seconds, "The longest lifetime of a subscription."),
            .count(
                "status-expiry-min", \Live.limits.statusExpirySecondsMin, 1...315_360_000, .seconds,
                "The shortest lifetime of a status."),
            .count(
                "status-expiry-max", \Live.limits.statusExpirySecondsMax, 1...315_360_000, .seconds,
                "The longest lifetime of a status."),
            .count(
                "status-expiry-default", \Live.limits.statusExpirySecondsDefault, 1...315_360_000,
                .seconds, "The default lifetime of a status."),
        ])

    static let frames = SettingGroup(
        title: "Frames",
        settings: [
            // Buffers of these sizes are made once, in HTTP and webhooks, too.
            .count(
                "frame-bytes-max", \Startup.frameBytesMax, 1_024...16_777_216, .bytes,
                "Length of a client's frame."),
            .count(
                "frame-bytes-before-login-max", \Startup.frameBytesBeforeLoginMax,
                1_024...16_777_216, .bytes, "Length of a client's frame before login."),
            .count(
                "server-frame-bytes-max", \Startup.serverFrameBytesMax, 65_536...67_108_864, .bytes,
                "Length of the service's frames; longer lists are split."),
        ])

    static let feed = SettingGroup(
        title: "The feed",
        settings: [
            // The memory of the feed is allocated for these at startup.
            .count(
                "feed-bytes-max", \Startup.feed.feedBytesMax, 1_048_576...17_179_869_184,
                .bytes, "Events kept for readers to resume from."),
            .count(
                "feed-time", \Startup.feed.feedSeconds, 10...604_800, .seconds,
                "Time that events are kept, and time that the feed continues without readers."),
            .count(
                "feed-readers-max", \Startup.feed.readersMax, 1...1_000, .things,
                "Readers of the feed over the native protocol; as many, at most 32, over HTTP."),
        ])
}
