import PresenceCore

/// What waits for the connections of stalled loops, and must not be lost: how much there
/// is for each.
///
/// A loop keeps such messages for a client that does not read up to `backlogBytesMax`, and then
/// closes its connection. A stalled loop cannot, so the engine host does it for the loop:
/// what waits in its box is bounded, and a client never lacks a message without being told.
struct PushBacklog: Sendable {
    /// The most bytes that wait.
    struct Limits {
        let perConnection: Int
        let perLoop: Int
    }

    /// What becomes of a message.
    enum Verdict {
        case waits
        /// There is too much: the connection is to be closed.
        case closes
        /// The connection is to be closed already.
        case dropped
    }

    /// What waits for one loop.
    private struct OfLoop {
        var byteCount = 0
        /// By connection; nil: it is to be closed.
        var byteCounts: [ConnectionID: Int?] = [:]
    }

    private var loops: [Int: OfLoop] = [:]

    /// Adds a message for a connection, with `byteCount` bytes in its outbox.
    mutating func add(
        _ byteCount: Int, for connection: ConnectionID, ofLoop loop: Int, within limits: Limits
    ) -> Verdict {
        let before = loops[loop]?.byteCounts[connection] ?? .some(0)
        guard let before else { return .dropped }
        let inLoop = (loops[loop]?.byteCount ?? 0) + byteCount
        guard before + byteCount <= limits.perConnection, inLoop <= limits.perLoop else {
            loops[loop, default: OfLoop()].byteCounts[connection] = .some(nil)
            return .closes
        }
        loops[loop, default: OfLoop()].byteCounts[connection] = before + byteCount
        loops[loop]?.byteCount = inLoop
        return .waits
    }

    /// Forgets loops that are not stalled.
    mutating func keep(loops stalled: LoopSet) {
        guard !loops.isEmpty else { return }
        loops = loops.filter { stalled.contains($0.key) }
    }
}
