import PresenceCore
import PrometheusText

extension PushSenders {
    /// The metrics of each reader, in the Prometheus text format; empty without Web Push.
    ///
    /// The label is the entry of `push-hosts`, which the operator chose.
    public func metricsText() -> [UInt8] {
        let all = snapshot()
        var text = MetricsText()
        func add(
            _ kind: MetricsText.Kind, _ name: StaticString, _ help: StaticString,
            _ value: (PushCounters) -> Int
        ) {
            text.add(kind, name, help, all.map { (.init("host", $0.host), value($0)) })
        }
        add(
            .counter, "porchlight_push_sent_total", "Pushes accepted by the push service.", \.sent)
        add(.counter, "porchlight_push_failures_total", "Failed attempts.", \.failures)
        add(
            .counter, "porchlight_push_dropped_total",
            "Pushes rejected, failed too often while others succeeded, or too many to set aside.",
            \.dropped)
        add(
            .gauge, "porchlight_push_waiting", "Pushes set aside until they are attempted again.",
            \.waiting)
        add(
            .gauge, "porchlight_push_endpoints_failing", "Endpoints whose last push has failed.",
            \.failingEndpoints)
        add(
            .counter, "porchlight_push_addresses_removed_total",
            "Push addresses removed because the push service no longer has them.",
            \.addressesRemoved)
        if !all.isEmpty {
            text.add(
                .counter, "porchlight_push_passed_over_total",
                "Push addresses of devices that a message was not pushed to, by reason.",
                [PushRejection.notASubscription, .invalidKeys, .hostNotAllowed].map { reason in
                    (
                        .init("reason", reason.rawValue),
                        all.reduce(0) { $0 + $1.passedOver[reason, default: 0] }
                    )
                })
        }
        add(
            .gauge, "porchlight_push_lag_seconds",
            "Age of the oldest message with a push that is not finished.", \.lagSeconds)
        return text.bytes
    }
}
