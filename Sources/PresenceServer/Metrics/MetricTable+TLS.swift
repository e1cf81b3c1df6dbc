import PrometheusText
import SecureLoop
import TLSSessions

// Metrics of TLS; all zero without a listener for it.

extension MetricTable {
    static let tls: [Metric] = [
        Metric(
            .counter, "porchlight_tls_handshakes_total", "TLS handshakes completed, by kind.",
            by: "kind",
            [
                Metric.Value("full") { $0.sum(\.tls.full) },
                Metric.Value("resumed") { $0.sum(\.tls.resumedCount) },
            ]),
        Metric(
            .counter, "porchlight_tls_failures_total",
            "TLS connections that ended with an error, by reason.", by: "reason",
            Metric.Value.each(TLSError.allCases, \.label) { measurements, error in
                measurements.sum { Int(clamping: $0.tls.count(of: error)) }
            }),
        Metric(
            .counter, "porchlight_tls_handshakes_dropped_total",
            "TLS handshakes dropped because the client was slow while others were waiting."
        ) { $0.sum { Int(clamping: $0.tls.dropped) } },
        Metric(
            .counter, "porchlight_tls_handshakes_rejected_total",
            "TLS handshakes rejected because too many were waiting."
        ) { $0.sum { Int(clamping: $0.tls.rejected) } },
        Metric(
            .gauge, "porchlight_tls_handshakes_in_progress", "TLS handshakes in progress."
        ) { $0.sum(\.tls.inProgress) },
        Metric(
            .gauge, "porchlight_tls_handshakes_waiting",
            "TLS handshakes that wait for others to end."
        ) { $0.sum(\.tls.waiting) },
        Metric(
            histogram: "porchlight_tls_handshake_seconds",
            "Duration of TLS handshakes, with the round trips to the client."
        ) { $0.sum(\.tls.times) },
        Metric(
            .gauge, "porchlight_tls_certificate_expires_timestamp_seconds",
            "When the first certificate expires, in seconds since 1970; 0 without TLS."
        ) { $0.loops.first?.tlsExpiresSeconds ?? 0 },
    ]
}
