import PrometheusText

extension Webhooks {
    /// The metrics of each endpoint, in the Prometheus text format; empty without endpoints.
    ///
    /// The label is the endpoint's name, which the operator chose.
    public func metricsText() -> [UInt8] {
        let all = snapshot()
        var text = MetricsText()
        func add(
            _ kind: MetricsText.Kind, _ name: StaticString, _ help: StaticString,
            _ value: (WebhookCounters) -> Int
        ) {
            text.add(kind, name, help, all.map { (.init("webhook", $0.name), value($0)) })
        }
        add(
            .counter, "porchlight_webhook_batches_total", "Batches accepted by the receiver.",
            \.batches)
        add(
            .counter, "porchlight_webhook_events_total", "Events in accepted batches.", \.events)
        add(.counter, "porchlight_webhook_failures_total", "Failed attempts.", \.failures)
        add(
            .gauge, "porchlight_webhook_failures_in_a_row",
            "Failed attempts since the last success.", \.failuresInARow)
        add(.counter, "porchlight_webhook_resets_total", "Resets of the endpoint.", \.resets)
        add(
            .gauge, "porchlight_webhook_last_status",
            "HTTP status of the last response; 0 if there was none."
        ) { $0.lastStatus ?? 0 }
        add(
            .gauge, "porchlight_webhook_lag_seconds",
            "Age of the oldest event not yet accepted by the receiver.", \.lagSeconds)
        return text.bytes
    }
}
