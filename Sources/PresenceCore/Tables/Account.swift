import Containers

/// The number that stands for "none" wherever slots and handles are plain numbers.
let none = UInt32.max

/// What the engine keeps of an account besides its name, sessions and subscriptions.
struct Account {
    /// What it may publish now.
    var publishes = TokenBucket()
    /// Whether it may log in now.
    var logins = TokenBucket()
    /// When the last session ended; meaningless while `lastValue` is `unknown`.
    var lastSeen = Wall(milliseconds: 0)
    /// What the entry in the wheel says; meaningless without one.
    var expiryDeadline = Mono(milliseconds: 0)
    /// Fires at the earliest deadline of the account's subscriptions, or before.
    var expiryTimer = TimerID.none
    /// The topic of type 1; `none` while nobody needs it.
    var presenceTopic = none
    /// How many topics of other types there are.
    var customTopicCount: UInt32 = 0
    /// By how many requests in flight the account is held.
    var pinCount: UInt32 = 0
    /// How many statuses are in force.
    var statusCount: UInt16 = 0
    /// How many sessions there are, connected or not.
    var sessionCount: UInt8 = 0
    /// What the last session's end was; `unknown` before the first.
    var lastValue: UInt8 = 0
    /// Whether a change waits for the store.
    var change = Change.none
    /// How many others had the number before, for the history.
    var tenant: UInt16 = 0

    /// Whether a change of the account waits to become durable. One does at a time, so that
    /// what is checked when it is asked for still holds when it is carried out.
    enum Change: UInt8 {
        case none
        case inFlight
    }
}
