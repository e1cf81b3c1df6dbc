// `metrics`: all counters and gauges, in the Prometheus text format.
//
// Names begin with `porchlight_`, except those of the process, which have the names that every
// Prometheus client library uses. Units are seconds and bytes. Label values come from closed
// sets: no account names, addresses or other values that a client can choose.

import Containers
import EventLoop
import Outboxes
import PresenceCore
import PresenceStore
import PresenceWire
import PrometheusText

extension Reactor {
    /// All current metrics. The cost is proportional to the outboxes that this turn has to write.
    func metricsText(at now: Moment) -> [UInt8] {
        var text = MetricsText()
        addConnections(to: &text)
        addRequests(to: &text)
        addPresence(to: &text)
        addDelivery(to: &text)
        addFeed(to: &text, at: now.mono)
        addStore(to: &text)
        addProcess(to: &text, at: now)
        return text.bytes + (configuration.furtherMetrics?() ?? [])
    }

    private func addConnections(to text: inout MetricsText) {
        text.add(
            .gauge, "porchlight_connections", "Open connections.", loop.streamCount)
        text.add(
            .gauge, "porchlight_connections_max", "Maximum number of open connections.",
            configuration.admission.connectionsMax)
        text.add(
            .gauge, "porchlight_addresses", "Client addresses with open connections.",
            addresses.count)
        text.add(
            .counter, "porchlight_connections_accepted_total", "Connections accepted.",
            counters.accepted)
        text.add(
            .counter, "porchlight_connections_turned_away_total",
            "Connections rejected because a connection limit was reached.", counters.turnedAway)
        text.add(
            .counter, "porchlight_accept_failures_total",
            "Failed attempts to accept a connection.", counters.acceptFailures)
        text.begin(.counter, "porchlight_closes_total", "Connections closed, by reason.")
        for (ending, count) in counters.endings.entries {
            text.sample(count, .init("reason", ending.rawValue))
        }
        text.begin(.counter, "porchlight_logins_total", "Logins, by result.")
        text.sample(counters.loginsOfClients, .init("result", "ok"))
        text.sample(counters.loginsOfAppServers, .init("result", "ok_app_server"))
        for (reason, count) in counters.loginsRefused.entries where reason != .notLoggedIn {
            text.sample(count, .init("result", reason.rawValue))
        }
    }

    private func addRequests(to text: inout MetricsText) {
        text.begin(.counter, "porchlight_requests_total", "Valid requests, by method.")
        for (kind, count) in counters.requestsByMethod.entries {
            text.sample(count, .init("method", kind.rawValue))
        }
        text.begin(.counter, "porchlight_refusals_total", "Requests rejected, by reason.")
        for (reason, count) in counters.refusals.entries {
            text.sample(count, .init("reason", reason.rawValue))
        }
        text.begin(
            .counter, "porchlight_malformed_requests_total",
            "Frames without a well-formed request, by reason.")
        for (reason, count) in counters.malformed.entries {
            text.sample(count, .init("reason", reason.rawValue))
        }
        text.add(
            .counter, "porchlight_frame_violations_total",
            "Protocol violations that closed the connection.", counters.violations)
        text.add(
            .counter, "porchlight_throttles_total",
            "Pauses of clients above their rate limit.", counters.throttled)
        text.begin(
            .counter, "porchlight_overload_refusals_total",
            "Requests and logins rejected as overloaded, by the resource that was short.")
        text.sample(counters.loginsDelayed, .init("lack", "login_pace"))
        text.sample(counters.refusedForMemory, .init("lack", "memory"))
        text.sample(counters.refusedForStore, .init("lack", "store"))
        text.sample(counters.refusedForInquiries, .init("lack", "judges"))
        text.add(
            .counter, "porchlight_tokens_total", "Token verifications completed.",
            counters.inquiries - inquiriesUnderWay)
        text.add(
            .counter, "porchlight_tokens_refused_total", "Token verifications that failed.",
            counters.tokensRefused)
        text.add(
            .gauge, "porchlight_tokens_waiting", "Token verifications in progress.",
            inquiriesUnderWay)
    }

    private func addPresence(to text: inout MetricsText) {
        let stats = engine.currentStats
        text.add(.gauge, "porchlight_accounts", "Known accounts.", stats.accounts)
        text.add(
            .gauge, "porchlight_accounts_online", "Accounts with at least one session.",
            stats.accountsOnline)
        text.begin(.gauge, "porchlight_sessions", "Sessions of accounts, by connection state.")
        for connection in SessionEntry.Connectedness.allCases {
            text.sample(
                engine.tallies.sessions(connection),
                .init("connection", connection.word.description))
        }
        text.add(
            .gauge, "porchlight_app_servers", "Sessions of app servers.", stats.appServers)
        text.add(
            .gauge, "porchlight_subscriptions", "Current subscriptions.", stats.subscriptions)
        text.add(.gauge, "porchlight_statuses", "Current statuses.", stats.statuses)
        text.add(
            .counter, "porchlight_subscription_expiries_total", "Subscriptions expired.",
            stats.expiries)
        text.add(
            .counter, "porchlight_accounts_forgotten_total",
            "Accounts forgotten after the `remember` period.",
            stats.accountsForgotten)
        text.add(
            .gauge, "porchlight_deadlines", "Pending deadlines.",
            stats.deadlines)
        text.add(
            .gauge, "porchlight_requests_awaiting_store", "Requests waiting for a commit.",
            stats.awaitingStore)
        text.add(
            .gauge, "porchlight_requests_deferred",
            "Requests waiting for an earlier request of the same account.", stats.deferred)
        text.begin(.counter, "porchlight_events_total", "Events created, by cause.")
        for cause in Cause.allCases where cause != .sync {
            text.sample(engine.tallies.events(cause), .init("cause", cause.word.description))
        }
        text.add(
            .counter, "porchlight_deliveries_total", "Events handed to connections.",
            stats.deliveries)
        text.add(
            .counter, "porchlight_fan_out_conflations_total",
            "Events of large fan-outs replaced by newer events.", stats.eventsConflated)
        text.add(
            .gauge, "porchlight_fan_outs", "Large fan-outs in progress.", stats.fanOuts)
        text.begin(
            .gauge, "porchlight_memory_bytes",
            "Memory used by parts of the service; they are not the total.")
        text.sample(stats.subscriptionBytes, .init("part", "subscriptions"))
        text.sample(stats.nameBytes, .init("part", "names"))
        text.sample(engine.historyBytes, .init("part", "history"))
        text.sample(ownOutboxBytes, .init("part", "outboxes"))
        text.sample(pool.bytesIdle, .init("part", "outbox_pool"))
        text.sample(frames.heapBytes, .init("part", "shared_frames"))
    }

    private func addDelivery(to text: inout MetricsText) {
        text.add(
            .counter, "porchlight_conflations_total",
            "Events not delivered to slow clients, which received the newest state instead.",
            engine.tallies.eventsConflated)
        text.add(
            .counter, "porchlight_fell_behind_total",
            "Times that a slow client fell behind.", engine.tallies.sessionsConflated)
        text.add(
            .gauge, "porchlight_slow_readers",
            "Clients that have not read everything they were sent.",
            slow.count)
        text.add(
            .gauge, "porchlight_outbox_bytes", "Bytes waiting to be written to clients.",
            outboxBytes)
        text.add(
            .gauge, "porchlight_blocked_bytes",
            "Bytes written but not accepted by the kernel because clients do not read.",
            bytesBlocked)
        text.add(
            .gauge, "porchlight_held_back_bytes",
            "Bytes waiting behind those that the kernel has not accepted.", bytesHeldBack)
    }

    private func addFeed(to text: inout MetricsText, at now: Mono) {
        text.add(
            .gauge, "porchlight_feed_readers", "Connections that read the feed.",
            feed?.readers.count ?? 0)
        text.add(
            .gauge, "porchlight_feed_events", "Events retained for feed readers.",
            feed?.log.count ?? 0)
        text.add(
            .gauge, "porchlight_feed_bytes", "Bytes of the events retained for feed readers.",
            feed?.log.bytes ?? 0)
        text.add(
            .gauge, "porchlight_feed_bytes_max",
            "Maximum bytes of the events retained for feed readers.",
            configuration.feed.feedBytesMax)
        text.add(
            .gauge, "porchlight_feed_oldest_seconds",
            "Age of the oldest event retained for feed readers.",
            feedOldestSeconds(at: now))
        text.add(
            .gauge, "porchlight_feed_lag_seconds",
            "Age of the oldest event not yet sent to a connected feed reader.",
            feedLagSeconds(at: now))
        text.add(
            .counter, "porchlight_feed_resets_total",
            "Feed readers reset, first reads included.",
            counters.feedResets)
    }

    private func addStore(to text: inout MetricsText) {
        let store = store.counters
        text.add(
            histogram: "porchlight_store_commit_seconds", "Duration of commits.",
            self.store.commitTimes)
        text.add(
            .counter, "porchlight_store_commits_total", "Transactions committed.", store.commits)
        text.add(
            .counter, "porchlight_store_rows_total", "Rows written by committed transactions.",
            store.rows)
        text.add(
            .counter, "porchlight_store_failures_total", "Transactions that failed.",
            store.failures)
        text.add(
            .gauge, "porchlight_store_pending_writes", "Writes waiting for the disk.",
            store.pending)
        text.add(
            .gauge, "porchlight_store_retained_keys",
            "Writes of no pending request, retained because the disk failed.", store.retained)
    }

    private func addProcess(to text: inout MetricsText, at now: Moment) {
        text.add(
            histogram: "porchlight_loop_lag_seconds",
            "Event-loop timer lag.", loopTimes.lag)
        text.add(
            histogram: "porchlight_turn_seconds", "Duration of event-loop turns.",
            loopTimes.turns)
        text.begin(.gauge, "porchlight_build_info", "Always 1; the label contains the version.")
        text.sample(1, .init("version", configuration.version))
        let milliseconds = now.mono.milliseconds - begun.mono.milliseconds
        text.begin(
            .gauge, "porchlight_uptime_seconds", "Time since the service started.")
        text.sample(microseconds: milliseconds * 1_000)
        text.begin(
            .counter, "process_cpu_seconds_total", "CPU time used by the process.")
        text.sample(microseconds: loop.processorMicroseconds)
        text.add(
            .gauge, "process_resident_memory_bytes", "Resident memory of the process.",
            Int(clamping: loop.memoryBytes))
        text.add(
            .counter, "porchlight_memory_returns_total",
            "Times that free memory was returned to the kernel.", counters.memoryReturns)
        text.begin(
            .gauge, "process_start_time_seconds",
            "Start time of the service, in seconds since 1970.")
        text.sample(microseconds: UInt64(clamping: begun.wall.milliseconds) * 1_000)
    }

    /// Bytes in outboxes: those that this turn will write, and those behind a blocked write.
    var outboxBytes: Int { outboxBytes(\.count) }

    /// The same without the bytes in shared frames.
    private var ownOutboxBytes: Int { outboxBytes(\.bytes.count) }

    private func outboxBytes(_ count: (Outbox) -> Int) -> Int {
        dirty.reduce(bytesHeldBack) { sum, slot in
            // After a drain, the rest of an outbox counts as held back until it is written.
            let bytes = count(connections[Int(slot)].outbox)
            return sum + bytes - connections[Int(slot)].bytesHeldBack
        }
    }
}
