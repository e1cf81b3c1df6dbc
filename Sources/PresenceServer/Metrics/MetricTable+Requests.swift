import PresenceCore
import PresenceWire
import PrometheusText

// Metrics of connections, and of what arrives over them.

extension MetricTable {
    static let connections: [Metric] = [
        Metric(
            .gauge, "porchlight_connections", "Open connections.",
            stats: .connections, top: .gauge(.connections)
        ) { $0.sum(\.connections) },
        Metric(.gauge, "porchlight_connections_max", "Maximum number of open connections.") {
            $0.host.configuration.admission.connectionsMax
        },
        Metric(
            .gauge, "porchlight_addresses", "Client addresses with open connections.",
            stats: .addresses
        ) { $0.sum(\.addresses) },
        Metric(
            .counter, "porchlight_connections_accepted_total", "Connections accepted.",
            stats: .connectionsAccepted
        ) { $0.count(\.accepted) },
        Metric(
            .counter, "porchlight_connections_rejected_total",
            "Connections rejected because a connection limit was reached.",
            stats: .connectionsRejected
        ) { $0.count(\.connectionsRejected) },
        Metric(
            .counter, "porchlight_accept_failures_total",
            "Failed attempts to accept a connection.", stats: .acceptFailures
        ) { $0.count(\.acceptFailures) },
        Metric(
            .counter, "porchlight_closes_total", "Connections closed, by reason.", by: "reason",
            Metric.Value.each(Ending.allCases, \.rawValue) { measurements, ending in
                measurements.count { $0.endings[ending] }
            }),
        Metric(stats: .closedTooSlow) { $0.count(\.closedTooSlow) },
        Metric(.counter, "porchlight_logins_total", "Logins, by result.", by: "result", logins),
    ]

    /// Why requests are rejected, but no login.
    private static let neverOfLogins: [Rejection.Reason] = [
        .notLoggedIn, .readOnlyKey, .contactQuota, .requestQuota, .directedQuota, .inboxFull,
        .senderQuota,
        .notPermitted, .unknownContact, .nothingSet, .invalidAlias, .aliasTooLong, .invalidTag,
        .tagTooLong, .tooManyTags, .labelsTooLong, .noRecipients,
    ]

    private static let logins: [Metric.Value] =
        [
            Metric.Value("ok", top: .count(.logins)) { $0.count(\.loginsOfClients) },
            Metric.Value("ok_app_server") { $0.count(\.loginsOfAppServers) },
        ]
        + Metric.Value.each(
            Rejection.Reason.allCases.filter { !neverOfLogins.contains($0) }, \.rawValue
        ) { measurements, reason in
            measurements.count { $0.loginsRejected[reason] }
        }

    static let requests: [Metric] =
        [
            Metric(stats: .requests, top: .count(.requests)) { $0.count(\.requests) },
            Metric(
                .counter, "porchlight_requests_total", "Valid requests, by method.", by: "method",
                Metric.Value.each(MethodName.allCases, \.rawValue) { measurements, method in
                    measurements.count { $0.requestsByMethod[method] }
                }),
            Metric(
                .counter, "porchlight_rejections_total", "Requests rejected, by reason.",
                by: "reason",
                Metric.Value.each(Rejection.Reason.allCases, \.rawValue) { measurements, reason in
                    measurements.count { $0.rejections[reason] }
                }),
            Metric(
                .counter, "porchlight_malformed_requests_total",
                "Frames without a well-formed request, by reason.", by: "reason",
                Metric.Value.each(
                    EnvelopeError.Reason.allCases, \.rawValue
                ) { measurements, reason in
                    measurements.count { $0.malformed[reason] }
                }),
            Metric(
                .counter, "porchlight_frame_violations_total",
                "Protocol violations that closed the connection.", stats: .violations
            ) { $0.count(\.violations) },
            Metric(
                .gauge, "porchlight_large_input_bytes",
                "Bytes of messages above 64 KiB that are not complete, or wait for a rate limit."
            ) { $0.sum(\.largeInputBytes) },
            Metric(
                .counter, "porchlight_large_inputs_ended_total",
                "Connections closed because messages above 64 KiB used too much in all."
            ) { $0.count(\.largeInputsEnded) },
            Metric(
                .counter, "porchlight_websockets_total", "Connections that became WebSockets."
            ) { $0.count(\.webSockets) },
            Metric(
                .counter, "porchlight_websocket_origins_rejected_total",
                "Requests for a WebSocket rejected because of the origin of the page."
            ) { $0.count(\.originsRejected) },
            Metric(
                .counter, "porchlight_websocket_pings_total",
                "Pings sent to WebSocket clients that were silent for one heartbeat."
            ) { $0.count(\.pingsSent) },
            Metric(
                .counter, "porchlight_throttles_total",
                "Pauses of clients above their rate limit.", stats: .throttled
            ) { $0.count(\.throttled) },
            Metric(
                .counter, "porchlight_overload_rejections_total",
                "Requests and logins rejected as overloaded, by the resource that was short.",
                by: "lack",
                [
                    Metric.Value("login_rate", stats: .loginsDelayed) {
                        $0.count(\.loginsDelayed)
                    },
                    Metric.Value("memory", stats: .rejectedForMemory) {
                        $0.count(\.rejectedForMemory)
                    },
                    Metric.Value("store", stats: .rejectedForStore) {
                        $0.count(\.rejectedForStore)
                    },
                    Metric.Value("token_verification", stats: .tokensOverLimit) {
                        $0.count(\.tokensOverLimit)
                    },
                    Metric.Value("passwords") { $0.host.passwords.counters.rejected },
                ]),
        ] + tokens + passwords

    private static let tokens: [Metric] = [
        Metric(stats: .tokensSubmitted) { $0.count(\.tokensSubmitted) },
        Metric(.counter, "porchlight_tokens_total", "Token verifications completed.") {
            $0.count(\.tokensSubmitted) - $0.host.tokensInVerification
        },
        Metric(
            .counter, "porchlight_tokens_rejected_total", "Token verifications that failed.",
            stats: .tokensRejected
        ) { $0.count(\.tokensRejected) },
        Metric(
            .gauge, "porchlight_tokens_waiting", "Token verifications in progress.",
            stats: .tokensInVerification
        ) { $0.host.tokensInVerification },
        Metric(stats: .tokensExpired) { $0.count(\.tokensExpired) },
    ]

    private static let passwords: [Metric] = [
        Metric(.gauge, "porchlight_passwords", "Accounts with a password.") {
            $0.host.passwords.storedCount
        },
        Metric(
            .gauge, "porchlight_passwords_waiting",
            "Logins with a password, and changes of passwords, in progress."
        ) { $0.host.passwords.count },
        Metric(
            .counter, "porchlight_passwords_compared_total",
            "Passwords that clients have sent, by result. Those of SCRAM are not sent.",
            by: "result",
            [
                Metric.Value("right") {
                    $0.host.passwords.counters.compared - $0.host.passwords.counters.mismatched
                },
                Metric.Value("wrong") { $0.host.passwords.counters.mismatched },
            ]),
        Metric(
            .counter, "porchlight_logins_rejected_for_guesses_total",
            "Password logins rejected because too many passwords of their address were wrong."
        ) { $0.host.passwords.counters.rejectedForGuesses },
        Metric(
            .counter, "porchlight_registrations_total", "Accounts registered by XMPP clients."
        ) { $0.host.passwords.counters.registered },
    ]
}
