extension Webhooks {
    /// What is counted of each endpoint, in Prometheus' text format; empty without endpoints.
    ///
    /// The label is the endpoint's name, which whoever runs the service has chosen.
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
        add("counter", "batches_total", "Batches that were taken.") { $0.batches }
        add("counter", "events_total", "Events in these.") { $0.events }
        add("counter", "failures_total", "Attempts that were not taken.") { $0.failures }
        add("gauge", "failures_in_a_row", "Attempts since the last that was taken.") {
            $0.failuresInARow
        }
        add("counter", "resets_total", "How often an endpoint was begun anew.") { $0.resets }
        add("gauge", "last_status", "The status of the last answer; 0: there was none.") {
            $0.lastStatus ?? 0
        }
        add("gauge", "lag_seconds", "How old the oldest event is that waits to be taken.") {
            $0.lagSeconds
        }
        return text
    }
}
