import Containers

/// When the token of a session expires. A new token that arrives before is verified first.
struct TokenExpiry {
    /// Not set without a token, and once it has expired.
    var deadline = WheelTimer()
    /// Whether a new token is being verified.
    private var isRefreshing = false

    /// A new token is being verified.
    mutating func beginRefresh() { isRefreshing = true }

    /// The token has expired. Returns whether the session ends now: not while a new one is being
    /// verified.
    mutating func expire() -> Bool {
        deadline.fired()
        return !isRefreshing
    }

    /// The new token has been verified, or was rejected. Returns whether the session ends now: the
    /// old one has expired meanwhile.
    mutating func endRefresh() -> Bool {
        guard isRefreshing else { return false }
        isRefreshing = false
        return !deadline.isSet
    }
}
