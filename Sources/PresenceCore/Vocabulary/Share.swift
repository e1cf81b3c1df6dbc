/// How much one party may have of a limit that many parties share.
///
/// A party may grow while it then has at most a part of what was left before. With a divisor of 1,
/// one party alone has half of the limit, `n` have 1/(n+1) each, and a party that has nothing gets
/// in while there is anything left: those that have the most are rejected first. A fixed part, such
/// as a tenth, would be filled by ten parties.
public struct Share: Hashable, Sendable {
    /// One party alone has 1/(`divisor` + 1) of the limit.
    public let divisor: Int

    /// A share of what is left.
    public init(divisor: Int) {
        self.divisor = max(1, divisor)
    }

    /// One alone has half.
    public static let half = Share(divisor: 1)
    /// One alone has a ninth.
    public static let ninth = Share(divisor: 8)

    /// Whether a party that has `held` may have `amount` more while `free` is left for all.
    public func admits(_ amount: Int, held: Int, free: Int) -> Bool {
        let (wanted, isTooMuch) = held.addingReportingOverflow(amount)
        return !isTooMuch && wanted <= max(0, free) / divisor
    }
}
