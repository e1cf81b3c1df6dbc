// Webhooks, which post the feed.

extension SettingTable {
    static let webhooks = SettingGroup(
        title: "Webhooks",
        settings: [
            // There may be a secret in it.
            .text(
                "webhook", \.webhooks.url, .text, unset: "none",
                "Where every change of state is posted: an http or https URL.",
                takesEffect: .atRestart, isSecret: true),
            .text(
                "webhook-secret", \.webhooks.secretPath, .path, unset: "none",
                "A file with the secret that posts are signed with, 16 to 512 bytes.",
                takesEffect: .atRestart),
            .text(
                "webhooks", \.webhooks.listPath, .path, unset: "none",
                "A JSON file with several: [{\"name\", \"url\", \"secret\": a file}]; [] is none.",
                takesEffect: .atRestart),
            .count(
                "webhook-timeout", \.webhooks.timeoutSeconds, 1...60, .seconds,
                "Time in which a receiver must have answered.", takesEffect: .atRestart),
            .count(
                "webhook-retry-max", \.webhooks.retrySecondsMax, 1...3_600, .seconds,
                "Time between two attempts at most, where a receiver does not ask for more.",
                takesEffect: .atRestart),
        ])
}

/// What `serve` has been told of webhooks.
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
            remedy: "they go together: receivers know by the secret that it is you who posts"),
        Self(
            names: ["webhook", "webhooks"],
            holds: { $0.webhooks.url == nil || $0.webhooks.listPath == nil },
            remedy: "give one of them: a list may have one line"),
    ]
}
