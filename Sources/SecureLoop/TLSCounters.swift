public import Containers
public import TLSSessions

/// What a `SecureLoop` has counted since it began.
public struct TLSCounters: Hashable, Sendable {
    /// Handshakes that led to a connection.
    public internal(set) var handshakes: UInt64 = 0
    /// Those of them that continued an earlier session.
    public internal(set) var resumed: UInt64 = 0
    /// Connections that ended with an error, by `TLSError.rawValue`.
    public internal(set) var errors = [UInt64](repeating: 0, count: TLSError.allCases.count)
    /// Handshakes that were dropped because others were waiting.
    public internal(set) var dropped: UInt64 = 0
    /// Connections that were closed because too many handshakes were waiting.
    public internal(set) var rejected: UInt64 = 0
    /// Handshakes in progress: with an object of OpenSSL.
    public internal(set) var inProgress = 0
    /// Handshakes that wait until there is room.
    public internal(set) var waiting = 0
    /// From the whole ClientHello to the open connection.
    public internal(set) var times = DurationHistogram()

    /// Nothing counted.
    public init() {}

    /// Handshakes that did not continue an earlier session.
    public var full: Int { Int(clamping: handshakes - resumed) }
    /// Handshakes that did.
    public var resumedCount: Int { Int(clamping: resumed) }

    /// Connections that ended with this error.
    public func count(of error: TLSError) -> UInt64 { errors[Int(error.rawValue)] }
}
