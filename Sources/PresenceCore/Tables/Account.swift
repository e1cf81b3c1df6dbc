import Containers

/// The number for "none" wherever slots and handles are plain numbers.
let none = UInt32.max

/// The data of an account besides its name, sessions and subscriptions.
struct Account {
    /// Its rate limit of publishes and clears.
    var publishes = TokenBucket()
    /// Its rate limit of logins.
    var logins = TokenBucket()
    /// When the last session ended; meaningless while `lastValue` is `unknown`.
    var lastSeen = Wall(milliseconds: 0)
    /// The deadline of the entry in the wheel; meaningless without one.
    var expiryDeadline = Mono(milliseconds: 0)
    /// Fires at the earliest deadline of the account's subscriptions, or before.
    var expiryTimer = TimerID.none
    /// The topic of type 1; `none` while it is not needed.
    var presenceTopic = none
    /// The topics of other types.
    var customTopics = TopicChain()
    /// The number of times that changes which wait hold the account.
    var holdCount: UInt32 = 0
    /// The number of statuses in force.
    var statusCount: UInt16 = 0
    /// The number of sessions, connected or not.
    var sessionCount: UInt8 = 0
    /// How the last session ended; `unknown` before the first.
    var lastValue: UInt8 = 0
    /// Which of its subscribers see it; nil: those that the setting says.
    var visibility: Visibility?
    /// Whether there is anything of it in the history, or was.
    var isInHistory = false
    /// How many earlier accounts had the same handle, for the history.
    var generation: UInt16 = 0
}
