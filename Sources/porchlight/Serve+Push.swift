// Web Push of `porchlight serve`: the settings are read, checked and made into senders.

import CommandSupport
import EventLoop
import Foundation
import Logging
import PresenceClient
import PresencePush
import TaskLoops
import WebPush

extension PushSettings {
    /// Checks the settings and reads the key; nil: there is no Web Push.
    ///
    /// - Throws: what is wrong, and what would be right; never the key.
    init?(
        _ choices: PushChoices, _ places: SettingPlaces = SettingPlaces(),
        _ occasion: ReadOccasion = .startup
    ) throws(SettingsError) {
        let hosts = Result { () throws(SettingsError) in try Self.hosts(choices, places) }
        let key = Result { () throws(SettingsError) in
            try Self.key(choices, places, occasion)
        }
        let subject = Result { () throws(SettingsError) in try Self.subject(choices, places) }
        let messages = hosts.messages + key.messages + subject.messages
        guard messages.isEmpty else { throw SettingsError(messages) }
        guard let key = try key.get(), let subject = try subject.get() else { return nil }
        self.init(key, subject, try hosts.get(), seed: UInt64.random(in: 0...UInt64.max))
    }

    private static func hosts(
        _ choices: PushChoices, _ places: SettingPlaces
    ) throws(SettingsError) -> PushHosts {
        do throws(PushHostError) {
            return try PushHosts(choices.hosts ?? PushChoices.hostsOfBrowsers)
        } catch {
            throw SettingsError(
                "The push services \(places["push-hosts"]) are invalid: "
                    + "\(visible(error.description)).")
        }
    }

    private static func key(
        _ choices: PushChoices, _ places: SettingPlaces, _ occasion: ReadOccasion
    ) throws(SettingsError) -> VAPIDKey? {
        guard let path = choices.keyPath else { return nil }
        let place = places["push-key"]
        let content = try readSecretFile(path, place, occasion)
        do throws(VAPIDKeyError) {
            return try VAPIDKey(file: content)
        } catch {
            throw SettingsError("The file \(path) \(place) \(error)")
        }
    }

    private static func subject(
        _ choices: PushChoices, _ places: SettingPlaces
    ) throws(SettingsError) -> PushSubject? {
        guard let text = choices.subject else { return nil }
        guard let subject = PushSubject(text) else {
            throw SettingsError(
                "The subject \(places["push-subject"]) is invalid: give a URL as "
                    + "mailto:ops@example.com or https://example.com/contact.")
        }
        return subject
    }
}

extension PushSenders {
    /// The senders of a service.
    convenience init(_ settings: PushSettings?, on loop: TaskLoop, logger: Logger) {
        self.init(
            settings, on: loop, authoritiesPath: authoritiesInEnvironment,
            wallMilliseconds: { Loop.wallMilliseconds() }, logger: logger)
    }
}

/// The file with the authorities that other servers are verified with, as OpenSSL's programs take
/// it from the environment; nil: those of the system.
var authoritiesInEnvironment: String? {
    ProcessInfo.processInfo.environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
}
