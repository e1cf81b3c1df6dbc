// Publishing, and the bookkeeping of every delivery. An event's number is in its value, so that a
// delivery can be matched with its event; events in flight are kept in a ring.

import EventLoop
import PresenceWire

/// Publishes one event after the other and checks that each subscriber receives each exactly once.
final class EventStream: LoadObserver {
    /// What was measured between two samples of the server.
    struct Measured {
        var deliveries = 0
        var events = 0
        var seconds = 0.0
        var bytesPerEvent = 0.0
        var before: ProcessSample?
        var after: ProcessSample?
    }

    /// An event in flight.
    struct Flight {
        var number = -1
        var publisher = 0
        var left = 0
        var due: UInt64 = 0
        var seq: UInt64 = 0
    }

    private(set) var latencies = Latencies()
    private(set) var eventsSent = 0
    private(set) var deliveriesOut = 0

    private let load: Load
    private let groups: Groups
    private let pace: Fanout.Pace
    private let check: EventCheck
    private var drained: DrainedSubscribers?
    private var ring: [Flight]
    /// The number of the newest event of each publisher at each receiver of its group.
    private var newest: [Int32]
    private var publishers: [Int32]
    /// Groups without an event in flight, and how many events each group has had.
    private var idleGroups: [Int]
    private var turnOfGroup: [Int]
    private var isPublishing = false
    private var dueNext: UInt64 = 0
    private var deliveries = 0
    private var deliveriesSeen = 0
    private var progressAt: UInt64
    private let patienceSeconds: Double
    private var frame: [UInt8]
    private let valueOffset: Int
    /// The bytes of the last event, and of the last answer to a publish.
    private var eventBytes = 0
    private var answerBytes = 0

    private static let firstValue = 1_000_000_000
    private static let checkedEvery = 1_024

    /// After `patienceSeconds` without any delivery, pending deliveries count as lost.
    init(_ load: Load, _ groups: Groups, pace: Fanout.Pace, patienceSeconds: Double = 10) {
        self.patienceSeconds = patienceSeconds
        self.load = load
        progressAt = load.loop.monotonicNanoseconds
        self.groups = groups
        self.pace = pace
        check = EventCheck(names: load.names)
        ring = Array(repeating: Flight(), count: 1 << 16)
        newest = Array(repeating: -1, count: groups.accounts * groups.size)
        // Consecutive publishers are of different groups, so that all receivers share the window.
        publishers = (0..<groups.accounts).map(Int32.init).shuffled(using: &load.random)
        idleGroups = Array(0..<groups.count)
        turnOfGroup = Array(repeating: 0, count: groups.count)
        frame = []
        frame.appendPublish(value: Self.firstValue)
        // Ten digits precede the two closing braces.
        valueOffset = frame.count - 12
        if case .paced = pace { load.tickMilliseconds = 1 }
    }

    /// Publishes: first to warm up, then measured.
    func run(
        until end: Fanout.End, sample: () -> ProcessSample?
    ) throws(BenchError) -> Measured {
        isPublishing = true
        dueNext = load.loop.monotonicNanoseconds
        try publish("warming up", end.warmUp)
        latencies.reset()
        var measured = Measured()
        measured.before = sample()
        let begin = (load.seconds, load.counters.eventBytes, deliveries, eventsSent)
        let drainedBytes = drained?.bytes ?? 0
        try publish("publishing", end)
        measured.after = sample()
        measured.seconds = load.seconds - begin.0
        measured.deliveries = deliveries - begin.2
        measured.events = eventsSent - begin.3
        measured.bytesPerEvent =
            Double(load.counters.eventBytes - begin.1) / Double(max(measured.deliveries, 1))
        measured.deliveries += ((drained?.bytes ?? 0) - drainedBytes) / eventBytes
        isPublishing = false
        try load.wait(for: "the last deliveries", atMostSeconds: 30) { [unowned self] in
            isQuiet
        }
        try drained?.finish(load, patienceSeconds: patienceSeconds)
        return measured
    }

    /// Has the first account of each group publish once, and waits for all deliveries.
    func publishOncePerGroup() throws(BenchError) {
        for group in 0..<groups.count {
            send(from: group * groups.size, due: load.loop.monotonicNanoseconds)
        }
        try load.wait(for: "a publish in each group", atMostSeconds: 60) { [unowned self] in
            isQuiet
        }
    }

    /// From now on, the bytes of all subscribers but one of each group are only counted.
    func drainSubscribers() throws(BenchError) {
        send(from: 0, due: load.loop.monotonicNanoseconds)
        try load.wait(for: "an event and the answer", atMostSeconds: 60) { [unowned self] in
            isQuiet
        }
        // Unless there is a window: what half a receive buffer of the usual size holds.
        var lowWaterBytes = 32 << 10
        var pauseMilliseconds = 20
        if case .saturated(let window) = pace {
            // Half of what is in flight may wait unseen.
            lowWaterBytes = min(lowWaterBytes, window / groups.accounts * eventBytes / 2)
            // What is counted makes room for more.
            pauseMilliseconds = 2
        }
        drained = try DrainedSubscribers(
            load, groups, lowWaterBytes: max(lowWaterBytes, 1),
            pauseMilliseconds: pauseMilliseconds,
            answerToEventBytes: answerBytes - eventBytes)
        // An account whose events are checked does not publish: it would not receive the event.
        publishers.removeAll { groups.isLast(Int($0)) }
    }

    /// Ends what `drainSubscribers` has begun, before the connections are closed.
    func stopDraining() { drained?.stop() }

    private var isQuiet: Bool { deliveriesOut == 0 && load.counters.requestsOutstanding == 0 }

    private func publish(_ what: String, _ end: Fanout.End) throws(BenchError) {
        switch end {
        case .seconds(let seconds): try load.rest(seconds: seconds, what)
        case .events(let count):
            let last = eventsSent + count
            try load.wait(for: what, atMostSeconds: 600) { [unowned self] in eventsSent >= last }
        }
    }

    // MARK: Sending

    func turnEnded() {
        noticeLoss()
        guard isPublishing else { return }
        switch pace {
        case .single:
            if isQuiet { send(due: load.loop.monotonicNanoseconds) }
        case .onePerGroup:
            for group in idleGroups {
                send(from: nextPublisher(of: group), due: load.loop.monotonicNanoseconds)
            }
            idleGroups.removeAll(keepingCapacity: true)
        case .saturated(let window):
            // Bounded per turn, so that deliveries are read in between.
            let perEvent = groups.size - 1
            let drainedOut = drained?.deliveriesOut(eventBytes: eventBytes) ?? 0
            var room = min((window - deliveriesOut - drainedOut) / perEvent, 64)
            let due = room > 0 ? load.loop.monotonicNanoseconds : 0
            while room > 0 {
                send(due: due)
                room -= 1
            }
        case .paced(let perSecond):
            let now = load.loop.monotonicNanoseconds
            while dueNext <= now, deliveriesOut < 1_000_000 {
                send(due: dueNext)
                dueNext += 1_000_000_000 / UInt64(perSecond)
            }
        }
    }

    private func nextPublisher(of group: Int) -> Int {
        let members = groups.group(of: group * groups.size)
        // The last account of a group whose subscribers are drained does not publish.
        let checkedCount = drained == nil ? 0 : 1
        let turn = turnOfGroup[group]
        turnOfGroup[group] += 1
        return members.lowerBound + turn % (members.count - checkedCount)
    }

    /// An event that does not arrive in time is lost; waiting for it would hide that.
    private func noticeLoss() {
        let now = load.loop.monotonicNanoseconds
        if deliveriesOut == 0 || deliveries > deliveriesSeen {
            deliveriesSeen = deliveries
            progressAt = now
        } else if Double(now - progressAt) / 1e9 > patienceSeconds {
            load.fail("\(deliveriesOut) deliveries are lost: no more events arrive.")
        }
    }

    private func send(due: UInt64) {
        send(from: Int(publishers[eventsSent % publishers.count]), due: due)
    }

    private func send(from publisher: Int, due: UInt64) {
        let number = eventsSent
        let place = number & (ring.count - 1)
        guard ring[place].left == 0 else {
            return load.fail("Event \(ring[place].number) has not reached all subscribers in time.")
        }
        let subscribers = drained == nil ? groups.subscribers(of: publisher) : 1
        ring[place] = Flight(
            number: number, publisher: publisher, left: subscribers, due: due, seq: 0)
        deliveriesOut += subscribers
        eventsSent += 1
        var rest = Self.firstValue + number
        for digit in 0..<10 {
            frame[valueOffset + 9 - digit] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        guard let drained else { return load.request(frame, by: publisher) }
        drained.sent(by: publisher)
        load.send(frame, by: publisher)
    }

    // MARK: Receiving

    func answered(_ kind: RequestKind, of client: Int, in body: RawSpan) {
        answerBytes = body.byteCount + FrameSplitter.lengthBytes
    }

    func received(_ event: ScannedEvent, by client: Int, in body: RawSpan) {
        // Not a member of a group: a subscriber outside of them.
        guard client < groups.accounts else { return }
        let number = event.value - Self.firstValue
        guard event.cause == .publish, number >= 0, number < eventsSent else {
            return load.fail("An event that was not published: \(load.text(of: body)).")
        }
        let place = number & (ring.count - 1)
        guard ring[place].number == number, ring[place].publisher == event.publisher,
            ring[place].left > 0
        else { return load.fail("Event \(number) was delivered twice, or for another publisher.") }
        let group = groups.group(of: client)
        guard group.contains(event.publisher), event.publisher != client else {
            return load.fail("\(load.names.text(client)) got an event without a subscription.")
        }
        let member = client * groups.size + (event.publisher - group.lowerBound)
        guard newest[member] < number else {
            return load.fail("\(load.names.text(client)) got event \(number) after a newer one.")
        }
        newest[member] = Int32(truncatingIfNeeded: number)
        if ring[place].seq == 0 { ring[place].seq = event.seq }
        guard ring[place].seq == event.seq else {
            return load.fail("Event \(number) has two different seq.")
        }
        ring[place].left -= 1
        deliveriesOut -= 1
        deliveries += 1
        if ring[place].left == 0 { idleGroups.append(event.publisher / groups.size) }
        eventBytes = body.byteCount + FrameSplitter.lengthBytes
        drained?.checked(event.publisher, bytes: eventBytes)
        latencies.record(from: ring[place].due, to: load.now)
        guard deliveries % Self.checkedEvery == 1 else { return }
        if let mismatch = check.mismatch(
            in: body, publisher: event.publisher, value: event.value, seq: event.seq)
        {
            load.fail("An event is wrong: \(mismatch): \(load.text(of: body)).")
        }
    }
}

extension Fanout.End {
    /// A tenth of the events is published before measuring.
    var warmUp: Self {
        switch self {
        case .events(let count): .events(max(count / 10, 1))
        case .seconds(let seconds): .seconds(min(seconds / 10, 2))
        }
    }
}
