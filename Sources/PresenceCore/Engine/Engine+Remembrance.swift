// How accounts that have gone are forgotten: those that nothing refers to but what is remembered of
// them, when they were last seen and how they left, after `rememberSeconds`.
//
// There is no deadline an account: twenty million of them would cost more than what they are for.
// Every minute some accounts are looked at, so many that all have been within a day, and an account
// is forgotten up to a day late.
//
// What is remembered goes by the wall clock, which may be wrong. One that was set while the service
// ran is not believed before it has run evenly for `evenClockSeconds`, nor is one after a start.

import Containers

extension Engine {
    /// In how many minutes all accounts have been looked at: a day.
    private static var minutesPerRound: Int { 1_440 }
    /// Accounts looked at in a minute, at least.
    private static var accountsPerMinuteMin: Int { 1_000 }
    /// Accounts forgotten in a minute, at most: each is a write for the store.
    private static var forgottenPerMinuteMax: Int { 1_000 }
    /// By how much the wall clock may be off the other one between two looks. More: it was set.
    private static var unevenSecondsMax: Int { 60 }

    /// Begins to forget, once clients are let in.
    mutating func beginForgetting(at now: Moment) {
        remembrance.lastLook = now
        remembrance.isEvenSince = now.mono
        scheduleForgetting(at: now)
    }

    private mutating func scheduleForgetting(at now: Moment) {
        _ = wheel.schedule(
            Deadline.remembrance.payload, at: now.mono.advanced(bySeconds: 60).milliseconds)
    }

    /// Looks at the next accounts, and forgets those that have been gone for too long.
    mutating func forgetLongGone(at now: Moment, into effects: inout Effects) {
        scheduleForgetting(at: now)
        guard isEven(at: now), !accounts.isEmpty else { return }
        let count = max(Self.accountsPerMinuteMin, accounts.count / Self.minutesPerRound + 1)
        var left = Self.forgottenPerMinuteMax
        for _ in 0..<min(count, accounts.count) where left > 0 {
            if Int(remembrance.next) >= accounts.count { remembrance.next = 0 }
            if forgetIfLongGone(remembrance.next, at: now.wall, into: &effects) { left -= 1 }
            remembrance.next += 1
        }
    }

    private mutating func forgetIfLongGone(
        _ number: UInt32, at now: Wall, into effects: inout Effects
    ) -> Bool {
        let account = accounts[Int(number)]
        guard account.lastValue != 0, names.contains(number), !isNeeded(number),
            account.lastSeen < now.earlier(bySeconds: settings.rememberSeconds)
        else { return false }
        accounts[Int(number)].lastValue = 0
        retired.append(number)
        stats.accountsForgotten += 1
        effects.persist(.removeAccount(account: AccountHandle(index: number)))
        return true
    }

    /// Whether both clocks have gone equally far for long enough.
    private mutating func isEven(at now: Moment) -> Bool {
        let before = remembrance.lastLook
        remembrance.lastLook = now
        let expected = before.wall(at: now.mono)
        let earliest = expected.earlier(bySeconds: Self.unevenSecondsMax)
        let latest = expected.earlier(bySeconds: -Self.unevenSecondsMax)
        if now.wall < earliest || now.wall > latest { remembrance.isEvenSince = now.mono }
        return remembrance.isEvenSince.advanced(bySeconds: settings.evenClockSeconds) <= now.mono
    }
}

/// How far the engine has come with forgetting.
struct Remembrance {
    /// The account to be looked at next.
    var next: UInt32 = 0
    /// When accounts were looked at last.
    var lastLook = Moment(mono: Mono(milliseconds: 0), wall: Wall(milliseconds: 0))
    /// From when on the wall clock has run as evenly as the other.
    var isEvenSince = Mono(milliseconds: 0)
}

extension Wall {
    /// So many seconds before; as far as there is time.
    fileprivate func earlier(bySeconds seconds: Int) -> Wall {
        let (difference, overflow) = milliseconds.subtractingReportingOverflow(
            Int64(seconds) * 1_000)
        return Wall(milliseconds: overflow ? .min : difference)
    }
}
