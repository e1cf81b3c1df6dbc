import CommandSupport
import Foundation
import PresenceClient

/// Whether and when a verb that has lost the service tries again: at growing intervals.
struct Reconnection {
    private var pauseSeconds = 1
    private var hasConnected = false

    /// Starts again with short intervals after a success.
    mutating func connected() {
        hasConnected = true
        pauseSeconds = 1
    }

    /// Waits until the next attempt is due.
    ///
    /// - Throws: if another attempt would end as this one has, or there was no first success.
    mutating func wait(after error: ClientError) throws {
        guard hasConnected, Self.isWorthAnotherTry(error) else {
            throw CommandError(error.description)
        }
        pauseSeconds = max(pauseSeconds, Self.retryAfterSeconds(error))
        note("\(error.description) Trying again in \(pauseSeconds) s.")
        // With jitter, so that clients that lost the same service do not return at once.
        usleep(UInt32.random(in: 1_000_000...1_500_000) * UInt32(pauseSeconds))
        pauseSeconds = min(pauseSeconds * 2, 30)
    }

    private static func isWorthAnotherTry(_ error: ClientError) -> Bool {
        switch error {
        // After a token has expired, the file may hold a newer one.
        case .closed(let reply): reply.isTransient || reply.reason == "token_expired"
        case .rejected(let reply): reply.isTransient
        default: true
        }
    }

    private static func retryAfterSeconds(_ error: ClientError) -> Int {
        switch error {
        case .closed(let reply), .rejected(let reply): min(reply.retryAfterSeconds ?? 0, 600)
        default: 0
        }
    }
}
