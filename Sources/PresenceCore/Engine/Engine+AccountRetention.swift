// How unused accounts are forgotten: accounts without references, of which only the end of the last
// session is remembered, and the labels of devices, are forgotten `rememberSeconds` after they were
// used.
//
// There is no deadline per account: twenty million of them would cost more than they save. Every
// minute some accounts are checked, as many as it takes to check all of them within a day. So an
// account is forgotten up to a day late.
//
// The time of the last use is wall time, which may be wrong. A clock that was set while the
// service ran is not used until it has run evenly for `evenClockSeconds`; neither is one after a
// start.

import Containers

extension Engine {
    /// The minutes in which all accounts are checked: a day.
    private static var minutesPerRound: Int { 1_440 }
    /// Accounts checked in a minute, at least.
    private static var accountsPerMinuteMin: Int { 1_000 }
    /// Accounts forgotten in a minute, at most: each is a write for the store.
    private static var forgottenPerMinuteMax: Int { 1_000 }
    /// The most that the wall clock may differ from the monotonic one between two checks. Beyond,
    /// it was set.
    private static var unevenSecondsMax: Int { 60 }

    /// Starts forgetting, once clients are accepted.
    mutating func beginForgetting(at now: Moment) {
        retention.lastCheck = now
        retention.evenSince = now.mono
        scheduleForgetting(at: now)
    }

    private mutating func scheduleForgetting(at now: Moment) {
        _ = wheel.schedule(
            Deadline.accountRetention.payload, at: now.mono.advanced(bySeconds: 60).milliseconds)
    }

    /// Checks the next accounts, and forgets those that have been unused for too long.
    mutating func forgetUnusedAccounts(at now: Moment, into effects: inout Effects) {
        scheduleForgetting(at: now)
        guard isEven(at: now), !accounts.isEmpty else { return }
        let count = max(Self.accountsPerMinuteMin, accounts.count / Self.minutesPerRound + 1)
        var left = Self.forgottenPerMinuteMax
        for _ in 0..<min(count, accounts.count) where left > 0 {
            if Int(retention.next) >= accounts.count { retention.next = 0 }
            if forgetIfUnused(retention.next, at: now.wall, into: &effects) { left -= 1 }
            retention.next += 1
        }
    }

    private mutating func forgetIfUnused(
        _ number: UInt32, at now: Wall, into effects: inout Effects
    ) -> Bool {
        guard let lastUse = lastUse(of: number), names.contains(number), !isNeeded(number),
            lastUse < now.earlier(bySeconds: settings.rememberSeconds)
        else { return false }
        let account = AccountHandle(index: number)
        for device in devices.removeAll(of: account) {
            effects.persist(.removeDevice(account: account, device: effects.copy(device)))
        }
        accounts[Int(number)].lastValue = 0
        retired.append(number)
        stats.accountsForgotten += 1
        effects.persist(.removeAccount(account: account))
        return true
    }

    /// When the last session of an account ended, or one of its devices was set, if that was later;
    /// nil: it is not remembered.
    private func lastUse(of number: UInt32) -> Wall? {
        let account = accounts[Int(number)]
        let lastSeen = account.lastValue == 0 ? nil : account.lastSeen
        guard let lastUpdate = devices.lastUpdate(of: number) else { return lastSeen }
        return lastSeen.map { max($0, lastUpdate) } ?? lastUpdate
    }

    /// Whether both clocks have advanced equally for long enough.
    private mutating func isEven(at now: Moment) -> Bool {
        let before = retention.lastCheck
        retention.lastCheck = now
        let expected = before.wall(at: now.mono)
        let earliest = expected.earlier(bySeconds: Self.unevenSecondsMax)
        let latest = expected.earlier(bySeconds: -Self.unevenSecondsMax)
        if now.wall < earliest || now.wall > latest { retention.evenSince = now.mono }
        return retention.evenSince.advanced(bySeconds: settings.evenClockSeconds) <= now.mono
    }
}

/// The progress of forgetting.
struct AccountRetention {
    /// The account to be checked next.
    var next: UInt32 = 0
    /// When accounts were last checked.
    var lastCheck = Moment(mono: Mono(milliseconds: 0), wall: Wall(milliseconds: 0))
    /// Since when the wall clock has run as evenly as the monotonic one.
    var evenSince = Mono(milliseconds: 0)
}

extension Wall {
    /// This number of seconds before; at least the beginning of time.
    fileprivate func earlier(bySeconds seconds: Int) -> Wall {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(
            Int64(seconds) * 1_000)
        return Wall(milliseconds: overflow ? .min : difference)
    }
}
