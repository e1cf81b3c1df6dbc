import Connections
import PresenceCore
import PresenceWire
import PrometheusText

// Metrics of the engine.

extension MetricTable {
    static let presence: [Metric] =
        sessions + subscriptions + relationships
        + [
            Metric(stats: .events, top: .count(.events)) { $0.host.engine.events },
            Metric(
                .counter, "porchlight_events_total", "Events created, by cause.", by: "cause",
                Metric.Value.each(
                    Cause.allCases.filter { $0 != .sync }, \.word.description
                ) { $0.host.tallies.events($1) }),
            Metric(
                .counter, "porchlight_deliveries_total", "Events handed to connections.",
                stats: .deliveries, top: .count(.deliveries)
            ) { $0.host.engine.deliveries },
            Metric(
                .counter, "porchlight_fan_out_conflations_total",
                "Events of large fan-outs replaced by newer events.", stats: .eventsConflated
            ) { $0.host.engine.eventsConflated },
            Metric(
                .gauge, "porchlight_fan_outs", "Large fan-outs in progress.", stats: .fanOuts
            ) { $0.host.engine.fanOuts },
            Metric(
                .gauge, "porchlight_memory_bytes",
                "Memory used by parts of the service; they are not the total.", by: "part",
                memory),
        ]

    private static let sessions: [Metric] = [
        Metric(.gauge, "porchlight_accounts", "Known accounts.", stats: .accounts) {
            $0.host.engine.accounts
        },
        Metric(
            .gauge, "porchlight_accounts_max", "Known accounts at which new ones are rejected."
        ) { $0.host.configuration.engine.limits.accountsMax },
        Metric(
            .gauge, "porchlight_accounts_online", "Accounts with at least one session.",
            stats: .accountsOnline, top: .gauge(.accountsOnline)
        ) { $0.host.engine.accountsOnline },
        Metric(stats: .sessions) { $0.host.engine.sessions },
        Metric(stats: .sessionsConnected, top: .gauge(.sessionsConnected)) {
            $0.host.engine.sessionsConnected
        },
        Metric(
            .gauge, "porchlight_sessions", "Sessions of accounts, by connection state.",
            by: "connection",
            Metric.Value.each(
                SessionEntry.Connectedness.allCases, \.word.description
            ) { $0.host.tallies.sessions($1) }),
        Metric(
            .gauge, "porchlight_app_servers", "Sessions of app servers.", stats: .appServers
        ) { $0.host.engine.appServers },
    ]

    private static let subscriptions: [Metric] = [
        Metric(
            .gauge, "porchlight_subscriptions", "Current subscriptions.",
            stats: .subscriptions, top: .gauge(.subscriptions)
        ) { $0.host.engine.subscriptions },
        Metric(
            .gauge, "porchlight_statuses", "Current statuses.",
            stats: .statuses, top: .gauge(.statuses)
        ) { $0.host.engine.statuses },
        Metric(
            .counter, "porchlight_subscription_expiries_total", "Subscriptions expired.",
            stats: .expiries
        ) { $0.host.engine.expiries },
        Metric(
            .counter, "porchlight_accounts_forgotten_total",
            "Accounts forgotten after the `remember` period.", stats: .accountsForgotten
        ) { $0.host.engine.accountsForgotten },
        Metric(.gauge, "porchlight_deadlines", "Pending deadlines.", stats: .deadlines) {
            $0.host.engine.deadlines
        },
        Metric(
            .gauge, "porchlight_requests_awaiting_store", "Requests waiting for a commit.",
            stats: .awaitingStore
        ) { $0.host.engine.awaitingStore },
        Metric(
            .gauge, "porchlight_requests_deferred",
            "Requests waiting for an earlier request of the same account.", stats: .deferred
        ) { $0.host.engine.deferred },
    ]

    private static let relationships: [Metric] = [
        Metric(
            .gauge, "porchlight_relationships",
            "Directions of relationships, by state: accepted (active) or asked for (pending).",
            by: "state",
            [
                Metric.Value("active", stats: .relationshipsActive) {
                    $0.host.engine.relationshipsActive
                },
                Metric.Value("pending", stats: .relationshipsPending) {
                    $0.host.engine.relationshipsPending
                },
            ]),
        Metric(
            .counter, "porchlight_relationship_changes_total",
            "Changes of directions of relationships, by action.", by: "action",
            Metric.Value.each(RelationWord.allCases, \.action.description) {
                $0.host.tallies.relationChanges($1)
            }),
    ]

    private static let memory: [Metric.Value] = [
        Metric.Value(
            "subscriptions", stats: .subscriptionBytes, top: .gauge(.subscriptionBytes)
        ) { $0.host.engine.subscriptionBytes },
        Metric.Value("names", stats: .nameBytes, top: .gauge(.nameBytes)) {
            $0.host.engine.nameBytes
        },
        Metric.Value("statuses") { $0.host.engine.statusBytes },
        Metric.Value("contacts") { $0.host.engine.contactBytes },
        Metric.Value("devices") { $0.host.engine.deviceBytes },
        Metric.Value("texts") { $0.host.engine.textBytes },
        Metric.Value("history", top: .gauge(.historyBytes)) { $0.host.historyBytes },
        Metric.Value("outboxes") { $0.sum(\.table.ownOutboxBytes) },
        Metric.Value("outbox_pool", stats: .poolBytesIdle) { $0.sum(\.table.poolBytesIdle) },
        Metric.Value("shared_frames") { $0.sum(\.table.sharedFrameBytes) },
    ]
}
