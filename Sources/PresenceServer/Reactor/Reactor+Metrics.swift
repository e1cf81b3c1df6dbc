// `metrics`: everything that is counted, in Prometheus' text format.
//
// Names begin with `porchlight_`, but for those of the process, which have the names that every
// Prometheus client gives them. Units are seconds and bytes. Labels come from closed sets: no
// name of an account, an address or anything else that a client can make up.

import Containers
import EventLoop
import Outboxes
import PresenceCore
import PresenceStore
import PresenceWire

extension Reactor {
    /// All metrics as they are now. What it costs goes with what this turn has to write.
    func metricsText(at now: Moment) -> [UInt8] {
        var text = MetricsText()
        addConnections(to: &text)
        addRequests(to: &text)
        addPresence(to: &text)
        addDelivery(to: &text)
        addFeed(to: &text, at: now.mono)
        addStore(to: &text)
        addProcess(to: &text, at: now)
        return text.bytes + Array((configuration.furtherMetrics?() ?? "").utf8)
    }

    private func addConnections(to text: inout MetricsText) {
        text.add(
            .gauge, "porchlight_connections", "Connections that are open.", loop.streamCount)
        text.add(
            .gauge, "porchlight_connections_max", "Connections that may be open.",
            configuration.admission.connectionsMax)
        text.add(
            .gauge, "porchlight_addresses", "Addresses that connections come from.",
            addresses.count)
        text.add(
            .counter, "porchlight_connections_accepted_total", "Connections that came.",
            counters.accepted)
        text.add(
            .counter, "porchlight_connections_turned_away_total",
            "Connections that were one too many.", counters.turnedAway)
        text.add(
            .counter, "porchlight_accept_failures_total",
            "How often the system could not give a new connection.", counters.acceptFailures)
        text.begin(.counter, "porchlight_closes_total", "Connections that ended, by how.")
        for (ending, count) in counters.endings.entries {
            text.sample("reason", ending.rawValue, count)
        }
        text.begin(.counter, "porchlight_logins_total", "Logins, by what became of them.")
        text.sample("result", "ok", counters.loginsOfClients)
        text.sample("result", "ok_app_server", counters.loginsOfAppServers)
        for (reason, count) in counters.loginsRefused.entries where reason != .notLoggedIn {
            text.sample("result", reason.rawValue, count)
        }
    }

    private func addRequests(to text: inout MetricsText) {
        text.begin(.counter, "porchlight_requests_total", "Requests that were sound, by method.")
        for (kind, count) in counters.requestsByMethod.entries {
            text.sample("method", kind.rawValue, count)
        }
        text.begin(.counter, "porchlight_refusals_total", "Requests that were refused, by reason.")
        for (reason, count) in counters.refusals.entries {
            text.sample("reason", reason.rawValue, count)
        }
        text.begin(
            .counter, "porchlight_malformed_requests_total",
            "Frames that held no request, by what was wrong.")
        for (reason, count) in counters.malformed.entries {
            text.sample("reason", reason.rawValue, count)
        }
        text.add(
            .counter, "porchlight_frame_violations_total",
            "Frames for which a connection was closed.", counters.violations)
        text.add(
            .counter, "porchlight_throttles_total",
            "Waits of clients that asked too fast.", counters.throttled)
        text.begin(
            .counter, "porchlight_overload_refusals_total",
            "Requests and logins put off because of what the service lacked.")
        text.sample("lack", "login_pace", counters.loginsDelayed)
        text.sample("lack", "memory", counters.refusedForMemory)
        text.sample("lack", "store", counters.refusedForStore)
        text.sample("lack", "judges", counters.refusedForInquiries)
        text.add(
            .counter, "porchlight_tokens_total", "Tokens that were shown and judged.",
            counters.inquiries - inquiriesUnderWay)
        text.add(
            .counter, "porchlight_tokens_refused_total", "Tokens of these that did not hold.",
            counters.tokensRefused)
        text.add(
            .gauge, "porchlight_tokens_waiting", "Tokens that are being judged.",
            inquiriesUnderWay)
    }

    private func addPresence(to text: inout MetricsText) {
        let stats = engine.currentStats
        text.add(.gauge, "porchlight_accounts", "Accounts that are known.", stats.accounts)
        text.add(
            .gauge, "porchlight_accounts_online", "Accounts with a session.",
            stats.accountsOnline)
        text.begin(.gauge, "porchlight_sessions", "Sessions of accounts, by their connection.")
        for connection in SessionEntry.Connectedness.allCases {
            text.sample(
                "connection", connection.word.description, engine.tallies.sessions(connection))
        }
        text.add(
            .gauge, "porchlight_app_servers", "Sessions of app servers.", stats.appServers)
        text.add(
            .gauge, "porchlight_subscriptions", "Subscriptions in force.", stats.subscriptions)
        text.add(.gauge, "porchlight_statuses", "Statuses in force.", stats.statuses)
        text.add(
            .counter, "porchlight_subscription_expiries_total", "Subscriptions that ran out.",
            stats.expiries)
        text.add(
            .counter, "porchlight_accounts_forgotten_total",
            "Accounts that had been gone for too long to be remembered.",
            stats.accountsForgotten)
        text.add(
            .gauge, "porchlight_deadlines", "Things that wait for a time to come.",
            stats.deadlines)
        text.add(
            .gauge, "porchlight_requests_awaiting_store", "Requests that wait for the disk.",
            stats.awaitingStore)
        text.add(
            .gauge, "porchlight_requests_deferred",
            "Requests that wait for an earlier one of their account.", stats.deferred)
        text.begin(.counter, "porchlight_events_total", "Events made, by cause.")
        for cause in Cause.allCases where cause != .sync {
            text.sample("cause", cause.word.description, engine.tallies.events(cause))
        }
        text.add(
            .counter, "porchlight_deliveries_total", "Events handed to connections.",
            stats.deliveries)
        text.add(
            .counter, "porchlight_fan_out_conflations_total",
            "Events of large fan-outs that gave way to newer ones.", stats.eventsConflated)
        text.add(
            .gauge, "porchlight_fan_outs", "Large fan-outs under way.", stats.fanOuts)
        text.begin(
            .gauge, "porchlight_memory_bytes", "Memory of parts of the service; not all of it.")
        text.sample("part", "subscriptions", stats.subscriptionBytes)
        text.sample("part", "names", stats.nameBytes)
        text.sample("part", "history", engine.historyBytes)
        text.sample("part", "outboxes", ownOutboxBytes)
        text.sample("part", "outbox_pool", pool.bytesIdle)
        text.sample("part", "shared_frames", frames.heapBytes)
    }

    private func addDelivery(to text: inout MetricsText) {
        text.add(
            .counter, "porchlight_conflations_total",
            "Events left out for clients that did not read, whose newest states followed.",
            counters.conflated)
        text.add(
            .counter, "porchlight_fell_behind_total",
            "How often a client fell behind with reading.", counters.fellBehind)
        text.add(
            .gauge, "porchlight_slow_readers", "Clients that have not taken all they were sent.",
            slow.count)
        text.add(
            .gauge, "porchlight_outbox_bytes", "Bytes that wait to be written to clients.",
            outboxBytes)
        text.add(
            .gauge, "porchlight_blocked_bytes",
            "Bytes written that the kernel has not taken because clients do not read.",
            bytesBlocked)
        text.add(
            .gauge, "porchlight_held_back_bytes",
            "Bytes that wait behind those the kernel has not taken.", bytesHeldBack)
    }

    private func addFeed(to text: inout MetricsText, at now: Mono) {
        text.add(
            .gauge, "porchlight_feed_readers", "Connections that read the feed.",
            feed?.readers.count ?? 0)
        text.add(
            .gauge, "porchlight_feed_events", "Events kept for readers of the feed.",
            feed?.log.count ?? 0)
        text.add(
            .gauge, "porchlight_feed_bytes", "Bytes of these.", feed?.log.bytes ?? 0)
        text.add(
            .gauge, "porchlight_feed_bytes_max", "Bytes that there may be of these.",
            configuration.feed.feedBytesMax)
        text.add(
            .gauge, "porchlight_feed_oldest_seconds", "How old the oldest of these is.",
            feedOldestSeconds(at: now))
        text.add(
            .gauge, "porchlight_feed_lag_seconds",
            "How old the oldest event is that a connected reader has not been given.",
            feedLagSeconds(at: now))
        text.add(
            .counter, "porchlight_feed_resets_total",
            "Readers of the feed that were begun anew, first reads included.",
            counters.feedResets)
    }

    private func addStore(to text: inout MetricsText) {
        let store = store.counters
        text.add(
            histogram: "porchlight_store_commit_seconds", "How long commits took.",
            self.store.commitTimes)
        text.add(
            .counter, "porchlight_store_commits_total", "Transactions committed.", store.commits)
        text.add(
            .counter, "porchlight_store_rows_total", "Rows written by them.", store.rows)
        text.add(
            .counter, "porchlight_store_failures_total", "Transactions that failed.",
            store.failures)
        text.add(
            .gauge, "porchlight_store_pending_writes", "Writes that wait for the disk.",
            store.pending)
        text.add(
            .gauge, "porchlight_store_retained_keys",
            "Writes nobody waits for that are kept because the disk failed.", store.retained)
    }

    private func addProcess(to text: inout MetricsText, at now: Moment) {
        text.add(
            histogram: "porchlight_loop_lag_seconds",
            "How late the loop was for its deadlines.", loopTimes.lag)
        text.add(
            histogram: "porchlight_turn_seconds", "How long turns of the loop took.",
            loopTimes.turns)
        text.begin(.gauge, "porchlight_build_info", "Always 1; the version is in the label.")
        text.sample("version", configuration.version, 1)
        let milliseconds = now.mono.milliseconds - begun.mono.milliseconds
        text.add(
            .gauge, "porchlight_uptime_seconds", "How long the service runs.",
            microseconds: milliseconds * 1_000)
        text.add(
            .counter, "process_cpu_seconds_total", "Time that processors spent on the process.",
            microseconds: loop.processorMicroseconds)
        text.add(
            .gauge, "process_resident_memory_bytes", "Memory that the process has.",
            Int(clamping: loop.memoryBytes))
        text.add(
            .gauge, "process_start_time_seconds", "When the service began, since 1970.",
            microseconds: UInt64(clamping: begun.wall.milliseconds) * 1_000)
    }

    /// Bytes in outboxes: those that this turn will write, and those behind what is blocked.
    var outboxBytes: Int { outboxBytes(\.count) }

    /// The same without what they share.
    private var ownOutboxBytes: Int { outboxBytes(\.bytes.count) }

    private func outboxBytes(_ count: (Outbox) -> Int) -> Int {
        dirty.reduce(bytesHeldBack) { sum, slot in
            // Of one that has just drained, the rest is counted as held back until it is written.
            let bytes = count(connections[Int(slot)].outbox)
            return sum + bytes - connections[Int(slot)].bytesHeldBack
        }
    }
}
