// Stanzas that arrive slowly. A native frame must be complete within `frameSeconds`. A stanza may
// have a picture in it and arrive over a slow line, and the stream cannot continue without its
// rest: so the loop waits while it arrives, up to a limit.

/// How a stanza arrives that has begun and is not complete.
struct StanzaArrival {
    /// The bytes that must arrive in each period of `frameSeconds`.
    static let bytesMin = 256
    /// The periods in which the whole stanza must arrive.
    static let periodsMax = 12

    /// Bytes that had arrived at the end of the last period.
    private var bytes: Int
    /// Periods that have ended.
    private var periods = 0

    /// The arrival of a stanza of which this number of bytes has arrived.
    init(bytes: Int = 0) { self.bytes = bytes }

    /// A period has ended. Returns whether the stanza has another.
    mutating func hasNextPeriod(bytes now: Int) -> Bool {
        periods += 1
        defer { bytes = now }
        return periods < Self.periodsMax && now - bytes >= Self.bytesMin
    }
}
