import Connections
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
    /// For `LoopQuestion.slowest`, with the addresses of the clients.
    var slowest: [(connection: ConnectionID, address: String, reader: SlowReader)] = []
}
