// Subscribers whose bytes are only counted. They publish, too, and receive an event of each other
// account of the group and an answer to each request of their own. The last account of each group
// parses and checks every event; so it is known how many bytes each of the others must have
// received.

import EventLoop

/// All accounts of each group but the last, whose bytes are counted and discarded.
final class DrainedSubscribers {
    private let groups: Groups
    private let accounts: [Int]
    private let sockets: DrainedSockets
    private let answerToEventBytes: Int
    /// The bytes of all events of a group that its last account has received.
    private var bytesOfGroup: [Int]
    /// What an account receives more than that, or less: answers, but no events of its own.
    private var bytesOfAccount: [Int]
    private var bytesExpected = 0
    private var deliveriesSent = 0

    /// Takes the sockets of the drained accounts from the load. `answerToEventBytes` is the length
    /// of the answer to a publish less that of its event, which vary together: with the number.
    /// Of a socket, fewer than `lowWaterBytes` may wait unseen, and more for `pauseMilliseconds`.
    init(
        _ load: Load, _ groups: Groups, lowWaterBytes: Int, pauseMilliseconds: Int,
        answerToEventBytes: Int
    ) throws(BenchError) {
        self.groups = groups
        self.answerToEventBytes = answerToEventBytes
        bytesOfGroup = Array(repeating: 0, count: groups.count)
        bytesOfAccount = Array(repeating: 0, count: groups.accounts)
        accounts = (0..<groups.accounts).filter { !Self.isChecked($0, groups) }
        var descriptors: [CInt] = []
        for account in accounts {
            let stream = load.clients[account].stream
            load.loop.stopReading(stream)
            guard let descriptor = load.loop.descriptor(of: stream) else {
                throw BenchError("A connection ended before its bytes were counted.")
            }
            descriptors.append(descriptor)
        }
        sockets = try DrainedSockets(
            descriptors, lowWaterBytes: lowWaterBytes,
            pauseMilliseconds: pauseMilliseconds)
    }

    /// Whether an account's events are parsed and checked: the last of a group, which subscribed
    /// last and is written to last. So the next event follows when most have this one.
    static func isChecked(_ account: Int, _ groups: Groups) -> Bool {
        account == groups.group(of: account).upperBound - 1
    }

    /// A drained account publishes: the others of its group are to receive the event.
    func sent(by account: Int) {
        deliveriesSent += groups.group(of: account).count - 2
    }

    /// The last account of a group has received an event of this length.
    func checked(_ publisher: Int, bytes: Int) {
        bytesOfGroup[publisher / groups.size] += bytes
        bytesOfAccount[publisher] += answerToEventBytes
        bytesExpected += bytes * (groups.group(of: publisher).count - 1) + answerToEventBytes
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
        sockets.countAll()
        var (seen, seenAt) = (sockets.bytes, load.seconds)
        try load.wait(for: "the last bytes", atMostSeconds: 600) { [unowned self] in
            if sockets.bytes > seen { (seen, seenAt) = (sockets.bytes, load.seconds) }
            return seen >= bytesExpected || load.seconds > seenAt + patienceSeconds
        }
        for (account, bytes) in zip(accounts, sockets.bytesBySocket) {
            let expected = bytesOfGroup[account / groups.size] + bytesOfAccount[account]
            guard bytes == expected else {
                throw BenchError(
                    "\(load.names.text(account)) received \(bytes) bytes of events instead of "
                        + "\(expected).")
            }
        }
    }
}
