// What SIGHUP does. The settings are read again and checked whole, on a thread of their own; then
// everything that can change while clients are connected changes at once, or nothing does.

import CommandSupport
import Dispatch
import Logging
import PresenceHTTP
import PresenceServer
import PresenceTokens
import Synchronization
import TLSSessions

/// Reads the settings again on request, and applies them to the service.
final class Reloading: Sendable {
    private let sources: SettingSources
    private let logger: Logger
    private let control: ServiceControl
    private let authenticator: CredentialAuthenticator
    private let http: HTTPServer?
    /// Kept over reloads, so that clients can continue their sessions.
    private let tickets: TLSTicketKeys
    private let queue = DispatchQueue(label: "porchlight.settings")
    private let state: Mutex<State>

    private struct State {
        /// The settings in force. Those that need a restart stay as they were at the start.
        var inForce: SettingsInForce
        /// The keys in force for logins.
        var keys: KeyFiles
        /// The certificates in force.
        var tls: TLSFiles
        var isAsked = false
    }

    init(
        _ sources: SettingSources, inForce: SettingsInForce, keys: KeyFiles, tls: TLSFiles,
        tickets: TLSTicketKeys, authenticator: CredentialAuthenticator,
        of control: ServiceControl, _ http: HTTPServer?, logger: Logger
    ) {
        self.http = http
        self.tickets = tickets
        self.sources = sources
        self.control = control
        self.authenticator = authenticator
        self.logger = logger
        state = Mutex(State(inForce: inForce, keys: keys, tls: tls))
    }

    /// Requests a reload, without waiting. Requests before it has begun are merged.
    func ask() {
        let isFirst = state.withLock { state in
            defer { state.isAsked = true }
            return !state.isAsked
        }
        if isFirst { queue.async { self.reload() } }
    }

    private func reload() {
        let (before, keysBefore, tlsBefore) = state.withLock { state in
            state.isAsked = false
            return (state.inForce, state.keys, state.tls)
        }
        do throws(SettingsError) {
            let read = try sources.read(.reload)
            let next = try before.reloaded(from: read)
            var settings = before.settings
            settings.reload(from: next.settings)
            let keys = try KeyFiles(settings, .reload)
            let tls = try TLSFiles(
                settings.tls, settings.places,
                xmppDomains: settings.xmpp.domainsOfCertificates, tickets: tickets, .reload)
            // Nothing can fail from here on.
            var configuration = settings.service
            configuration.authenticator = authenticator
            configuration.tls = tls.listening
            configuration.xmpp?.contexts = tls.xmpp
            control.apply(configuration)
            if let context = tls.http { http?.replaceCertificates(with: context) }
            authenticator.replace(with: keys)
            AdjustableLog.setThreshold(settings.logLevel)
            keys.warn(logger, before: keysBefore)
            tls.warn(logger, before: tlsBefore)
            state.withLock { ($0.inForce, $0.keys, $0.tls) = (next, keys, tls) }
            let changes = before.changes(to: read)
            if changes.contains(where: { $0.setting.takesEffect == .atRestart }) {
                warnOfRestart(with: read.settings)
            }
            report(
                changes, keysBefore.changes(to: keys).map(\.text) + tlsBefore.changes(to: tls),
                keys)
        } catch {
            for fault in error.faults {
                logger.error("settings refused, nothing was changed: \(fault)")
            }
        }
    }

    /// Logs why a restart with these settings would be refused. One that begins and fails is worse
    /// than one that is put off.
    private func warnOfRestart(with settings: ServiceSettings) {
        do throws(SettingsError) {
            _ = try ServiceFiles(settings, tickets: tickets, .reload)
        } catch {
            for fault in error.faults { logger.error("a restart would be refused: \(fault)") }
        }
    }

    private func report(_ changes: [SettingChange], _ fileChanges: [String], _ keys: KeyFiles) {
        for change in changes {
            let place = change.origin.text
            switch change.setting.takesEffect {
            case .atReload:
                logger.notice("setting changed: \(change.text) (\(place))")
            case .atRestart:
                logger.warning("setting needs a restart: \(change.text) (\(place))")
            }
        }
        for change in fileChanges { logger.notice("\(change)") }
        let count = changes.count { $0.setting.takesEffect == .atReload } + fileChanges.count
        logger.notice(
            "settings, keys and certificates read again, \(count) changed", metadata: keys.logged)
    }
}

/// A setting whose value changes.
struct SettingChange: Sendable {
    let setting: Setting
    let before: Setting.Value?
    let after: Setting.Value?
    let origin: SettingsInForce.Origin

    /// `disconnect-grace 5 → 10`; for a secret, only the name.
    var text: String {
        setting.isSecret
            ? "\(setting.name) (hidden)"
            : "\(setting.name) \(cut(setting.text(of: before))) → \(cut(setting.text(of: after)))"
    }
}

extension SettingsInForce {
    /// The differences from these settings to others.
    func changes(to other: SettingsInForce) -> [SettingChange] {
        SettingTable.all.filter { value(of: $0) != other.value(of: $0) }.map {
            SettingChange(
                setting: $0, before: value(of: $0), after: other.value(of: $0),
                origin: other.origin(of: $0))
        }
    }

    /// These, with all changes from others that need no restart. The result must be consistent.
    func reloaded(from other: SettingsInForce) throws(SettingsError) -> SettingsInForce {
        var next = other
        for setting in SettingTable.all where setting.takesEffect == .atRestart {
            next.entries[setting.name] = entries[setting.name]
        }
        return try next.checked()
    }
}
