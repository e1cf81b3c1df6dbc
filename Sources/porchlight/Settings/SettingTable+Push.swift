// Web Push, which sends to browsers what no device has taken in time.

extension SettingTable {
    static let push = SettingGroup(
        title: "Web Push",
        settings: [
            .text(
                "push-key", \Startup.push.keyPath, .path, unset: "none",
                "A file with the key by which push services know this service, as "
                    + "`porchlight key --web-push` makes it; with it, undelivered messages are "
                    + "pushed to browsers."),
            .text(
                "push-subject", \Startup.push.subject, .text, unset: "none",
                "Whom a push service tells that something is wrong: mailto: with an address, or an "
                    + "https URL."),
            .text(
                "push-hosts", \Startup.push.hosts, .text, unset: "browsers",
                "The push services that are sent to, up to 16 hosts with commas between them, "
                    + "`*.` for all hosts below a name. browsers: those of Chrome, Chromium, "
                    + "Firefox, Safari and Edge."),
        ])
}

/// The settings of Web Push.
struct PushChoices: Sendable {
    /// The file with the key; without one, nothing is pushed.
    var keyPath: String?
    var subject: String?
    /// The list as it was given; nil: those of browsers.
    var hosts: String?

    /// Those of Chrome, of Chromium as distributions build it, Firefox, Safari and Edge.
    static let hostsOfBrowsers =
        "fcm.googleapis.com,jmt17.google.com,updates.push.services.mozilla.com,web.push.apple.com,"
        + "*.notify.windows.com"
}

extension SettingRule {
    static let ofPush = [
        Self(
            names: ["push-key", "push-subject"],
            holds: { ($0.push.keyPath == nil) == ($0.push.subject == nil) },
            remedy: "Push services ask for a key and for whom to tell that something is wrong: set "
                + "both, push-key and push-subject")
    ]
}
