// What SIGHUP does. The settings are read again and checked whole, on a thread of their own; then
// everything that can change while clients are connected changes at once, or nothing does.

import CommandSupport
import Dispatch
import EventLoop
import Logging
import Synchronization
import TLSSessions

/// Everything that SIGHUP reads again. It is replaced whole or not at all.
struct ReloadedState: Sendable {
    /// Those that need a restart stay as they were at the start.
    let inForce: SettingsInForce
    let settings: ServiceSettings
    let keys: KeyFiles
    let tls: TLSFiles

    /// As it was read at a start.
    init(_ inForce: SettingsInForce, _ files: ServiceFiles) {
        self.inForce = inForce
        settings = inForce.settings
        keys = files.keys
        tls = files.tls
    }

    /// Reads the files that the settings name, at a time in seconds since 1970 UTC.
    ///
    /// - Throws: what is wrong with one of them, or that a certificate that is not valid would
    ///   replace one that is.
    init(
        _ inForce: SettingsInForce, _ tickets: TLSTicketKeys, replacing before: ReloadedState,
        at wallSeconds: Int64
    ) throws(SettingsError) {
        self.inForce = inForce
        settings = inForce.settings
        keys = try KeyFiles(settings, .reload)
        tls = try TLSFiles(settings, tickets: tickets, .reload, at: wallSeconds)
        let rejections = tls.certificates.rejections(
            replacing: before.tls.certificates, at: wallSeconds)
        guard rejections.isEmpty else { throw SettingsError(rejections) }
    }
}

/// Reads the settings again on request, and applies them to the service.
final class Reloading: Sendable {
    private let sources: SettingSources
    /// Applies a state everywhere. This cannot fail.
    private let apply: @Sendable (ReloadedState) -> Void
    private let logger: Logger
    /// Kept over reloads, so that clients can continue their sessions.
    private let tickets: TLSTicketKeys
    private let queue = DispatchQueue(label: "porchlight.settings")
    private let state: Mutex<(current: ReloadedState, isAsked: Bool)>

    init(
        _ sources: SettingSources, _ current: ReloadedState, tickets: TLSTicketKeys,
        logger: Logger, apply: @escaping @Sendable (ReloadedState) -> Void
    ) {
        self.sources = sources
        self.apply = apply
        self.tickets = tickets
        self.logger = logger
        state = Mutex((current, false))
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
        let before = state.withLock { state in
            state.isAsked = false
            return state.current
        }
        do throws(SettingsError) {
            let read = try sources.read(.reload)
            let next = try ReloadedState(
                before.inForce.reloaded(from: read), tickets, replacing: before,
                at: Loop.wallMilliseconds() / 1_000)
            apply(next)
            state.withLock { $0.current = next }
            next.keys.warn(logger, before: before.keys)
            next.tls.warn(logger, before: before.tls)
            let changes = before.inForce.changes(to: read)
            if changes.contains(where: { $0.setting.takesEffect == .atRestart }) {
                warnOfRestart(with: read.settings)
            }
            let ofFiles = before.keys.changes(to: next.keys).map(\.text)
            report(changes, ofFiles + before.tls.changes(to: next.tls), next.keys)
        } catch {
            for message in error.messages {
                logger.error("settings rejected, nothing was changed: \(message)")
            }
        }
    }

    /// Logs why a restart with these settings would be rejected. One that begins and fails is worse
    /// than one that is put off.
    private func warnOfRestart(with settings: ServiceSettings) {
        do throws(SettingsError) {
            _ = try ServiceFiles(settings, tickets: tickets, .reload)
        } catch {
            for message in error.messages {
                logger.error("a restart would be rejected: \(message)")
            }
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
