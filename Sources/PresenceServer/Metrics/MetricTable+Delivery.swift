import Connections
import PresenceCore
import PresenceStore
import PrometheusText

// Metrics of what leaves the service: to clients, feed readers and the disk.

extension MetricTable {
    static let delivery: [Metric] = [
        Metric(
            .counter, "porchlight_conflations_total",
            "Events not delivered to slow clients, which received the newest state instead.",
            stats: .conflated
        ) { $0.host.tallies.eventsConflated },
        Metric(
            .counter, "porchlight_fell_behind_total", "Times that a slow client fell behind.",
            stats: .fellBehind
        ) { $0.host.tallies.sessionsConflated },
        Metric(
            .gauge, "porchlight_slow_readers",
            "Clients that have not read everything they were sent."
        ) { $0.sum(\.table.slowReaders) },
        Metric(
            .gauge, "porchlight_outbox_bytes", "Bytes waiting to be written to clients.",
            stats: .outboxBytes
        ) { $0.sum(\.table.outboxBytes) },
        Metric(
            .gauge, "porchlight_blocked_bytes",
            "Bytes written but not accepted by the kernel because clients do not read.",
            stats: .bytesBlocked, top: .gauge(.bytesBlocked)
        ) { $0.sum(\.table.bytesBlocked) },
        Metric(
            .gauge, "porchlight_held_back_bytes",
            "Bytes waiting behind those that the kernel has not accepted.",
            stats: .bytesHeldBack, top: .gauge(.bytesHeldBack)
        ) { $0.sum(\.table.bytesHeldBack) },
    ]

    static let feed: [Metric] = [
        Metric(
            .gauge, "porchlight_feed_readers", "Connections that read the feed.",
            stats: .feedReaders
        ) { $0.host.feed.readers },
        Metric(
            .gauge, "porchlight_feed_events", "Events retained for feed readers.",
            stats: .feedEvents
        ) { $0.host.feed.events },
        Metric(
            .gauge, "porchlight_feed_bytes", "Bytes of the events retained for feed readers.",
            stats: .feedBytes
        ) { $0.host.feed.bytes },
        Metric(
            .gauge, "porchlight_feed_bytes_max",
            "Maximum bytes of the events retained for feed readers."
        ) { $0.host.configuration.feed.feedBytesMax },
        Metric(
            .gauge, "porchlight_feed_oldest_seconds",
            "Age of the oldest event retained for feed readers.", stats: .feedOldestSeconds
        ) { $0.host.feed.oldestSeconds },
        Metric(
            .gauge, "porchlight_feed_lag_seconds",
            "Age of the oldest event not yet sent to a connected feed reader.",
            stats: .feedLagSeconds
        ) { $0.host.feed.lagSeconds },
        Metric(
            .counter, "porchlight_feed_resets_total",
            "Feed readers reset, first reads included.", stats: .feedResets
        ) { $0.count(\.feedResets) },
    ]

    static let store: [Metric] = [
        Metric(histogram: "porchlight_store_commit_seconds", "Duration of commits.") {
            $0.host.commitTimes
        },
        Metric(
            .counter, "porchlight_store_commits_total", "Transactions committed.",
            stats: .storeCommits, top: .count(.commits)
        ) { $0.host.store.commits },
        Metric(
            .counter, "porchlight_store_rows_total", "Rows written by committed transactions.",
            stats: .storeRows, top: .count(.rows)
        ) { $0.host.store.rows },
        Metric(
            .counter, "porchlight_store_failures_total", "Transactions that failed.",
            stats: .storeFailures, top: .gauge(.storeFailures)
        ) { $0.host.store.failures },
        Metric(
            .gauge, "porchlight_store_pending_writes", "Writes waiting for the disk.",
            stats: .storePending, top: .gauge(.storePending)
        ) { $0.host.store.pending },
        Metric(
            .gauge, "porchlight_store_retained_keys",
            "Writes of no pending request, retained because the disk failed.",
            stats: .storeRetained, top: .gauge(.storeRetained)
        ) { $0.host.store.retained },
        Metric(
            .gauge, "porchlight_store_file_bytes", "Bytes of the database and its log on disk."
        ) { $0.host.store.fileBytes },
        Metric(
            stats: .storeLastCommitMicroseconds, top: .gauge(.storeLastCommitMicroseconds)
        ) { $0.host.store.lastCommitMicroseconds },
    ]
}
