// Webhooks, which post the feed.

extension SettingTable {
    static let webhooks = SettingGroup(
        title: "Webhooks",
        settings: [
            // The URL may contain a secret.
            .text(
                "webhook", \Startup.webhooks.url, .text, unset: "none",
                "The http or https URL that every change of state is posted to.", isSecret: true),
            .text(
                "webhook-secret", \Startup.webhooks.secretPath, .path, unset: "none",
                "A file with the secret that signs the posts, 16 to 512 bytes."),
            .text(
                "webhooks", \Startup.webhooks.listPath, .path, unset: "none",
                "A JSON file with several webhooks: [{\"name\", \"url\", \"secret\": a file}]."),
            .count(
                "webhook-timeout", \Startup.webhooks.timeoutSeconds, 1...60, .seconds,
                "Time within which a receiver must answer."),
            .count(
                "webhook-retry-max", \Startup.webhooks.retrySecondsMax, 1...3_600, .seconds,
                "Longest time between two attempts, unless a receiver asks for more."),
        ])
}

/// The settings of webhooks.
struct WebhookChoices: Sendable {
    var url: String?
    /// The file with the secret.
    var secretPath: String?
    /// The file with several webhooks.
    var listPath: String?
    var timeoutSeconds = 10
    var retrySecondsMax = 300
}

extension SettingRule {
    static let ofWebhooks = [
        Self(
            names: ["webhook", "webhook-secret"],
            holds: { ($0.webhooks.url == nil) == ($0.webhooks.secretPath == nil) },
            remedy: "Receivers verify the posts of a webhook by its secret: set both, webhook and "
                + "webhook-secret"),
        Self(
            names: ["webhook", "webhooks"],
            holds: { $0.webhooks.url == nil || $0.webhooks.listPath == nil },
            remedy: "Webhooks are set in one place: set webhook or webhooks, whose list may have a "
                + "single one"),
    ]
}
