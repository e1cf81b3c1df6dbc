import Foundation
import PresenceClient

/// Keep-alive frames at the interval that a service's heartbeat asks for.
///
/// Bytes that the client receives do not keep its session alive.
struct KeepAlive {
    /// The lowest heartbeat that a service can be set to.
    static let heartbeatSecondsMin: Int64 = 5
    private static let intervalSecondsMax = 10.0

    /// The time between two frames.
    let intervalSeconds: Double
    private var lastSent = Date()

    /// Half a heartbeat, so that one frame may be late; 10 s at most.
    init(heartbeatSeconds: Int64?) {
        let half = heartbeatSeconds.map { Double($0) / 2 } ?? Self.intervalSecondsMax
        intervalSeconds = min(Self.intervalSecondsMax, half)
    }

    /// Sends a frame if one is due.
    mutating func send(to client: Client) throws(ClientError) {
        guard Date().timeIntervalSince(lastSent) >= intervalSeconds else { return }
        try client.keepAlive()
        lastSent = Date()
    }
}
