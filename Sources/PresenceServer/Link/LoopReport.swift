import PresenceCore

/// What a question about the service asks a connection loop for, besides its measurements.
enum LoopQuestion: Sendable {
    case nothing
    /// The bytes that wait for these connections.
    case bytesWaiting([ConnectionID])
    /// The slowest connections, at most this number.
    case slowest(countMax: Int)
}

/// What a connection loop has measured.
struct LoopReport: Sendable {
    /// The loop's index.
    var loop = 0
    var measured = LoopMeasurements()
    /// For `LoopQuestion.bytesWaiting`, those that are connections of this loop.
    var bytesWaiting: [ConnectionID: Int] = [:]
    /// For `LoopQuestion.slowest`.
    var slowest: [SlowConnectionReport] = []
}

/// A connection that has not read everything it was sent.
struct SlowConnectionReport: Sendable {
    var connection: ConnectionID
    var address: String
    var bytesWaiting: Int
    /// Since when.
    var since: Mono
    /// Whether it misses events.
    var isConflated: Bool
}
