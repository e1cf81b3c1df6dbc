import PresenceCore
import PrometheusText

// Metrics of messages between accounts.

extension MetricTable {
    static let messages: [Metric] = [
        Metric(
            .counter, "porchlight_messages_total",
            "Messages, each once for each recipient, by what became of them.", by: "fate",
            [
                Metric.Value("stored") { $0.host.messages.stored },
                Metric.Value("taken", stats: .messagesTaken) { $0.host.messages.taken },
                Metric.Value("expired") { $0.host.messages.expired },
                Metric.Value("discarded") { $0.host.messages.discarded },
                Metric.Value("lost") { $0.host.messages.lost },
            ]),
        Metric(
            .counter, "porchlight_messages_undelivered_total",
            "Messages that no device has taken in time, each once for each recipient, by reason.",
            by: "why",
            [
                Metric.Value("absent") { $0.host.messages.undelivered[.absent] ?? 0 },
                Metric.Value("untaken") { $0.host.messages.undelivered[.untaken] ?? 0 },
            ]),
        Metric(
            .gauge, "porchlight_undelivered_readers",
            "Connections that read what is undelivered."
        ) { $0.host.undeliveredReaders },
        Metric(
            .gauge, "porchlight_undelivered_behind",
            "Undelivered messages that the reader which is furthest behind has not been sent."
        ) { $0.host.undeliveredBehind },
        Metric(
            .counter, "porchlight_messages_passed_over_total",
            "Devices selected by aliases or tags that a message was not stored for, without room."
        ) { $0.host.messages.passedOver },
        Metric(
            .gauge, "porchlight_devices",
            "Devices with an alias, tags or a push address, which are kept in memory."
        ) { $0.host.devices },
        Metric(
            .counter, "porchlight_messages_sent_total",
            "Messages sent to sessions, repetitions included."
        ) { $0.host.messages.sent },
        Metric(
            .gauge, "porchlight_messages_owed",
            "Messages that a session has taken and other sessions are still to be sent."
        ) { $0.host.messages.owed },
        Metric(
            .gauge, "porchlight_messages_owed_bytes",
            "Bytes that these messages count for."
        ) { $0.host.messages.owedBytes },
        Metric(
            .counter, "porchlight_messages_missed_total",
            "Taken messages that a session was not sent, since it had left too many."
        ) { $0.host.messages.missed },
        Metric(
            .counter, "porchlight_message_copies_total",
            "Copies of messages for other sessions of their senders."
        ) { $0.host.messages.copies },
        Metric(
            .counter, "porchlight_message_copies_missed_total",
            "Copies of messages that were left out, since a session did not keep up."
        ) { $0.host.messages.copiesMissed },
        Metric(
            .gauge, "porchlight_messages_waiting",
            "Messages that wait to be taken, each once for each recipient.",
            stats: .messagesWaiting
        ) { $0.host.messages.waiting },
        Metric(
            .gauge, "porchlight_messages_waiting_bytes",
            "Bytes that the waiting messages count for in the limits.", stats: .messageBytes
        ) { $0.host.messages.waitingBytes },
        Metric(
            .gauge, "porchlight_messages_waiting_bytes_max",
            "Bytes above which further messages are rejected as overloaded."
        ) { $0.host.configuration.engine.limits.messageBytesInAllMax },
        Metric(
            .gauge, "porchlight_message_share_bytes",
            "Bytes of the messages that wait, by the part of the room that they fill.",
            by: "share",
            [
                Metric.Value("accounts") { $0.host.messages.bytesOfAccounts },
                Metric.Value("strangers") { $0.host.messages.bytesOfStrangers },
            ]),
        Metric(
            .gauge, "porchlight_message_share_bytes_max",
            "Bytes above which further messages are rejected, by the part of the room.",
            by: "share",
            [
                Metric.Value("accounts") { $0.host.configuration.engine.limits.bytesOfAccountsMax },
                Metric.Value("strangers") {
                    $0.host.configuration.engine.limits.messageBytesInAllMax / 2
                },
            ]),
        Metric(
            .counter, "porchlight_message_share_rejections_total",
            "Requests to send that were rejected because a part of the room of all was used up.",
            by: "share",
            Metric.Value.each(MessageShare.allCases, \.rawValue) { measurements, share in
                measurements.host.messages.rejectedOfShare[share] ?? 0
            }),
        Metric(
            .gauge, "porchlight_message_inboxes", "Accounts for which messages wait."
        ) { $0.host.messages.inboxes },
        Metric(
            .counter, "porchlight_message_fetches_total",
            "Reads of message contents from the database."
        ) { $0.host.messages.fetches },
        Metric(
            .counter, "porchlight_message_fetch_failures_total",
            "Reads of message contents that have failed."
        ) { $0.host.messages.fetchFailures },
        Metric(
            .counter, "porchlight_messages_rejected_total",
            "Valid requests to send that were rejected at a limit or not stored, by reason.",
            by: "reason",
            Metric.Value.each(MessageStats.rejectionReasons, \.rawValue) { measurements, reason in
                measurements.host.messages.rejected[reason] ?? 0
            }),
    ]
}
