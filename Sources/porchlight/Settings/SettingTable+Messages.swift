import PresenceCore

// Messages between accounts. The longest message has a place in every box, also in the half that
// is for strangers, and the quota of a sender holds one for each recipient of a request.

extension SettingTable {
    static let messages = SettingGroup(
        title: "Messages",
        settings: [
            .choice(
                "messages", \Live.engine.messages,
                "Messages between accounts. off: their methods are rejected; what waits stays."),
            .count(
                "message-bytes-max", \Live.limits.messageBytesMax, 1_024...131_072, .bytes,
                "Length of a message's body and ext together in UTF-8."),
            .count(
                "messages-per-account-max", \Live.limits.messagesPerAccountMax, 10...1_000, .things,
                "Messages that wait for one account; accounts fill three quarters, unrelated ones "
                    + "half."),
            .count(
                "message-bytes-per-account-max", \Live.limits.messageBytesPerAccountMax,
                262_144...1_073_741_824, .bytes,
                "Bytes of the messages that wait for one account; each counts for at least 512."),
            .count(
                "messages-per-sender-max", \Live.limits.messagesPerSenderMax, 10...1_000_000,
                .things,
                "Messages of one account that wait, once for each recipient; app servers have no "
                    + "limit."),
            .count(
                "message-bytes-per-sender-max", \Live.limits.messageBytesPerSenderMax,
                2_097_152...1_099_511_627_776, .bytes,
                "Bytes of the messages of one account that wait."),
            .count(
                "message-bytes-in-all-max", \Live.limits.messageBytesInAllMax,
                8_388_608...1_099_511_627_776, .bytes,
                "Bytes of all messages that wait; accounts fill three quarters, half with messages "
                    + "to unrelated ones; above, error 503."),
            .count(
                "recipients-per-send-max", \Live.limits.recipientsPerSendMax, 1...10_000, .things,
                "Devices that an app server's message reaches by their aliases or tags."),
            .count(
                "stranger-messages-per-second", \Live.engine.strangerPace.ratePerSecond,
                1...100_000, .perSecond,
                "Messages to one account by all accounts together that are unrelated to it; "
                    + "above, error 416."),
            .count(
                "stranger-messages-burst", \Live.engine.strangerPace.burstMax, 1...1_000_000,
                .things, "Messages to one account by unrelated accounts in a burst."),
            .count(
                "push-after", \Live.engine.pushAfterSeconds, 1...300, .seconds,
                "Time within which a device must take a message; then app servers are sent that "
                    + "it is undelivered."),
            .count(
                "undelivered-bytes", \Live.engine.undeliveredBytesMax, 0...16_384, .bytes,
                "Bytes of body and ext together of each undelivered message that app servers are "
                    + "sent; 0: none."),
        ])

    static let devices = SettingGroup(
        title: "Devices",
        settings: [
            .choice(
                "device-labels", \Live.engine.deviceLabels,
                "Peers that set aliases and tags of devices: clients, too, or app servers only.")
        ])
}
