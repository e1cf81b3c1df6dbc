import PresenceXMPP
import PrometheusText

// Metrics of XMPP; all zero without a listener for it.

extension MetricTable {
    static let xmpp: [Metric] = [
        Metric(.gauge, "porchlight_xmpp_connections", "Open XMPP connections.") {
            $0.sum(\.xmppConnections)
        },
        Metric(
            .counter, "porchlight_xmpp_connections_accepted_total", "XMPP connections accepted."
        ) { $0.count(\.xmppAccepted) },
        Metric(
            .counter, "porchlight_xmpp_authentications_total",
            "Successful authentications of XMPP clients, by mechanism.", by: "mechanism",
            Metric.Value.each(XMPPLogin.allCases, \.rawValue) { measurements, mechanism in
                measurements.count { $0.xmppLogins[mechanism] }
            }),
        Metric(
            .counter, "porchlight_xmpp_authentication_failures_total",
            "Failed authentications of XMPP clients, by condition.", by: "condition",
            Metric.Value.each(SASLFailure.allCases, \.rawValue) { measurements, condition in
                measurements.count { $0.saslFailures[condition] }
            }),
        Metric(
            .counter, "porchlight_xmpp_stanzas_total",
            "Valid stanzas received from XMPP clients, by kind.",
            by: "kind",
            Metric.Value.each(Stanza.Kind.allCases, \.label) { measurements, kind in
                measurements.count { $0.stanzas[kind] }
            }),
        Metric(
            .counter, "porchlight_xmpp_stanza_errors_total",
            "Stanzas answered with an error, by condition.", by: "condition",
            Metric.Value.each(StanzaError.Condition.allCases, \.rawValue) {
                measurements, condition in
                measurements.count { $0.stanzaErrors[condition] }
            }),
        Metric(
            .counter, "porchlight_xmpp_stream_errors_total",
            "XMPP streams closed with an error, by condition.", by: "condition",
            Metric.Value.each(StreamError.Condition.allCases, \.rawValue) {
                measurements, condition in
                measurements.count { $0.streamErrors[condition] }
            }),
        Metric(.gauge, "porchlight_xmpp_vcards", "Accounts with a vCard.") {
            $0.host.cards.count
        },
        Metric(
            .gauge, "porchlight_xmpp_vcard_bytes",
            "Bytes of all vCards, each counting for at least 512."
        ) { $0.host.cards.byteCount },
        Metric(.counter, "porchlight_xmpp_vcard_reads_total", "Reads of vCards that were sent.") {
            $0.host.cards.counters.read
        },
        Metric(.counter, "porchlight_xmpp_vcard_sets_total", "Changes of vCards that were stored.")
        {
            $0.host.cards.counters.written
        },
        Metric(
            .counter, "porchlight_xmpp_vcard_sets_rejected_total",
            "Changes of vCards rejected because of vcard-bytes-in-all-max."
        ) { $0.host.cards.counters.rejected },
    ]
}

extension Stanza.Kind {
    fileprivate var label: String {
        switch self {
        case .message: "message"
        case .presence: "presence"
        case .iq: "iq"
        }
    }
}
