extension Webhooks {
    /// The metrics of each endpoint, in the Prometheus text format; empty without endpoints.
    ///
    /// The label is the endpoint's name, which the operator chose.
    public func metricsText() -> String {
        let all = snapshot()
        guard !all.isEmpty else { return "" }
        var text = ""
        func add(_ kind: String, _ name: String, _ help: String, _ value: (WebhookCounters) -> Int)
        {
            text += "# HELP porchlight_webhook_\(name) \(help)\n"
            text += "# TYPE porchlight_webhook_\(name) \(kind)\n"
            for counters in all {
                text +=
                    "porchlight_webhook_\(name){webhook=\"\(counters.name)\"} "
                    + "\(value(counters))\n"
            }
        }
        add("counter", "batches_total", "Batches accepted by the receiver.") { $0.batches }
        add("counter", "events_total", "Events in accepted batches.") { $0.events }
        add("counter", "failures_total", "Failed attempts.") { $0.failures }
        add("gauge", "failures_in_a_row", "Failed attempts since the last success.") {
            $0.failuresInARow
        }
        add("counter", "resets_total", "Resets of the endpoint.") { $0.resets }
        add("gauge", "last_status", "HTTP status of the last response; 0 if there was none.") {
            $0.lastStatus ?? 0
        }
        add("gauge", "lag_seconds", "Age of the oldest event not yet accepted by the receiver.") {
            $0.lagSeconds
        }
        return text
    }
}
