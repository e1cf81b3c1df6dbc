// Subscribers whose bytes are only counted. They publish, too, and receive an event of each other
// account of the group and an answer to each request of their own. The last account of each group
// parses and checks every event; so it is known how many bytes each of the others must have
// received.

import EventLoop

/// All accounts of each group but the last, whose bytes are counted and discarded.
final class DrainedSubscribers {
    private let groups: Groups
    private let sockets: DrainedSockets
    private let answerToEventBytes: Int
    /// The bytes of all events of a group that its last account has received.
    private var bytesOfGroup: [Int]
    /// What an account receives more than that, or less: answers, but no events of its own.
    private var bytesOfAccount: [Int]
    private var deliveriesSent = 0

    /// Takes the sockets of the drained accounts from the load. `answerToEventBytes` is the length
    /// of the answer to a publish less that of its event, which vary together: with the number.
    /// Bytes are counted late: fewer than `lowWaterBytes` of a socket at the end only, more
    /// within `pauseMilliseconds`.
    init(
        _ load: Load, _ groups: Groups, lowWaterBytes: Int, pauseMilliseconds: Int,
        answerToEventBytes: Int
    ) throws(BenchError) {
        self.groups = groups
        self.answerToEventBytes = answerToEventBytes
        bytesOfGroup = Array(repeating: 0, count: groups.count)
        bytesOfAccount = Array(repeating: 0, count: groups.accounts)
        sockets = try DrainedSockets(
            load, accounts: (0..<groups.accounts).filter { !groups.isLast($0) },
            lowWaterBytes: lowWaterBytes, pauseMilliseconds: pauseMilliseconds)
    }

    /// A drained account publishes: the others of its group are to receive the event.
    func sent(by account: Int) {
        deliveriesSent += groups.group(of: account).count - 2
    }

    /// The last account of a group has received an event of this length.
    func checked(_ publisher: Int, bytes: Int) {
        bytesOfGroup[publisher / groups.size] += bytes
        bytesOfAccount[publisher] += answerToEventBytes
    }

    /// The bytes that have been counted so far.
    var bytes: Int { sockets.bytes }

    /// Deliveries that have not been counted, if events have this length.
    func deliveriesOut(eventBytes: Int) -> Int {
        max(deliveriesSent - sockets.bytes / eventBytes, 0)
    }

    /// Reads the sockets no longer.
    func stop() { sockets.stop() }

    /// Waits until each account has received all bytes, or no more arrive for `patienceSeconds`.
    ///
    /// - Throws: `BenchError` if one has received fewer, or more.
    func finish(_ load: Load, patienceSeconds: Double) throws(BenchError) {
        try sockets.finish(load, patienceSeconds: patienceSeconds) { account in
            bytesOfGroup[account / groups.size] + bytesOfAccount[account]
        }
    }
}
