import CommandSupport
import PresencePush
import PresenceWebhooks
import TLSSessions

/// The files that settings name, as they are read at a start.
struct ServiceFiles: Sendable {
    let keys: KeyFiles
    let webhooks: WebhookSettings
    /// Nil: there is no Web Push.
    let push: PushSettings?
    let tls: TLSFiles

    /// Reads the files.
    ///
    /// - Throws: what is wrong with any of them; never their content.
    init(
        _ settings: ServiceSettings, tickets: TLSTicketKeys, _ occasion: ReadOccasion = .startup
    ) throws(SettingsError) {
        let keys = Result { () throws(SettingsError) in try KeyFiles(settings, occasion) }
        let webhooks = Result { () throws(SettingsError) in
            try WebhookSettings(settings.webhooks, settings.places)
        }
        let push = Result { () throws(SettingsError) in
            try PushSettings(settings.push, settings.places, occasion)
        }
        let tls = Result { () throws(SettingsError) in
            try TLSFiles(settings, tickets: tickets, occasion)
        }
        let messages = keys.messages + webhooks.messages + push.messages + tls.messages
        guard messages.isEmpty else { throw SettingsError(messages) }
        self.keys = try keys.get()
        self.webhooks = try webhooks.get()
        self.push = try push.get()
        self.tls = try tls.get()
    }
}

extension Result where Failure == SettingsError {
    /// What is wrong, if anything is.
    var messages: [String] {
        if case .failure(let error) = self { error.messages } else { [] }
    }
}
