import Containers
import EventLoop
import Outboxes
import PresenceCore
import Testing

@testable import Connections

/// Sockets whose peers have room for some bytes, and what was written to them.
private final class FakeSockets: Sockets {
    var room: [StreamID: Int] = [:]
    var pending: [StreamID: Int] = [:]
    var written: [StreamID: [UInt8]] = [:]
    var broken: Set<StreamID> = []
    var reading: Set<StreamID> = []
    var closed: Set<StreamID> = []
    var writeCount = 0

    func startReading(_ id: StreamID) { reading.insert(id) }
    func stopReading(_ id: StreamID) { reading.remove(id) }
    func bytesPending(_ id: StreamID) -> Int { pending[id, default: 0] }
    func millisecondsSinceReceived(_ id: StreamID) -> UInt64? { nil }
    func delivery(_ id: StreamID) -> SocketDelivery? { nil }
    func close(_ id: StreamID) { closed.insert(id) }
    func closeAfterWrites(_ id: StreamID) { closed.insert(id) }

    func write(_ id: StreamID, _ bytes: UnsafeRawBufferPointer) -> WriteOutcome {
        writeCount += 1
        guard !broken.contains(id) else { return .failed(UVError(code: -32, operation: "write")) }
        let accepted = min(bytes.count, room[id, default: .max])
        if let left = room[id] { room[id] = left - accepted }
        written[id, default: []] += bytes
        guard accepted < bytes.count else { return .written }
        pending[id] = bytes.count - accepted
        return .pending(bytes: bytes.count - accepted)
    }
}

@Suite struct `A table of connections` {
    private let sockets = FakeSockets()
    private let start = Mono(milliseconds: 1_000)

    private func table(
        outboxBytesMax: Int = 100, backlogBytesMax: Int = 1_000, perTurn: Int = 64,
        variantCount: Int = 2
    ) -> ConnectionTable {
        ConnectionTable(
            sockets,
            OutputLimits(
                outboxBytesMax: outboxBytesMax, backlogBytesMax: backlogBytesMax,
                bytesInAllMax: 10_000, socketBytes: 4_000, progressSeconds: 15,
                outboxesPerTurn: perTurn, flushFraction: 8),
            shares: SharedFrames.Limits(), heard: HeardTable(), variantCount: variantCount,
            at: start)
    }

    private func id(_ slot: UInt32, _ generation: UInt32 = 1) -> StreamID {
        StreamID(slot: slot, generation: generation)
    }

    private let patience = Patience(milliseconds: 60, millisecondsMax: 90, canAsk: true)

    /// A connection that has logged in.
    private func serve(_ slot: UInt32, in table: inout ConnectionTable) -> Int {
        let slot = table.open(id(slot))
        table.setDeadline(of: slot, to: start.advanced(bySeconds: 10))
        table.beginServing(slot)
        table.watchSilence(of: slot, patience, at: start)
        return slot
    }

    private func writeAll(_ table: inout ConnectionTable) {
        for _ in 0..<table.beginWriting() {
            let slot = table.takeDirty()
            _ = table.write(slot, at: start)
            table.leaveQueue(slot)
        }
        table.endWriting()
        table.checkInvariants()
    }

    /// Shares an event whose encoding is its variant's number, five times.
    private func share(_ table: inout ConnectionTable, with receivers: [UInt32]) -> [UInt32] {
        table.share(with: receivers[...]) { variant, frames in
            let bytes = Array(repeating: UInt8(variant.number), count: 5)
            return frames.add(bytes.span, gaps: [Int]().span, for: receivers.count)
        }
        let unshared = table.takeUnshared()
        table.giveBack(unshared)
        return unshared
    }

    @Test func `finds a stream by its id, and no earlier one in the slot`() {
        var table = table()
        let slot = table.open(id(3, 7))
        table.setDeadline(of: slot, to: start.advanced(bySeconds: 1))
        let (found, earlier) = (table.slot(of: id(3, 7)), table.slot(of: id(3, 6)))
        #expect(found == 3 && earlier == nil)
        table.free(slot)
        let gone = table.slot(of: id(3, 7))
        #expect(gone == nil)
        table.checkInvariants()
    }

    @Test func `shares an event in the encoding of each connection, in one write`() {
        var table = table()
        for slot in 0..<4 as Range<UInt32> { _ = serve(slot, in: &table) }
        table.setVariant(of: 2, EventVariant(1))
        let first = share(&table, with: [0, 1, 2, 3])
        let second = share(&table, with: [0, 2])
        #expect(first.isEmpty && second.isEmpty)
        writeAll(&table)
        #expect(sockets.writeCount == 4)
        #expect(sockets.written[id(0)] == Array(repeating: 0, count: 10))
        #expect(sockets.written[id(2)] == Array(repeating: 1, count: 10))
        #expect(sockets.written[id(3)] == Array(repeating: 0, count: 5))
    }

    @Test func `fills the gaps of a frame with the text of each connection`() {
        var table = table()
        for slot in 0..<2 as Range<UInt32> { _ = serve(slot, in: &table) }
        table.setVariant(of: 0, EventVariant(1), gapText: Array("ann".utf8))
        table.setVariant(of: 1, EventVariant(1), gapText: Array("ben".utf8))
        let frame = Array("<to=''/>".utf8)
        table.share(with: [0, 1]) { _, frames in
            frames.add(frame.span, gaps: [5].span, for: 2)
        }
        writeAll(&table)
        #expect(sockets.written[id(0)] == Array("<to='ann'/>".utf8))
        #expect(sockets.written[id(1)] == Array("<to='ben'/>".utf8))
    }

    @Test func `does not share with a full outbox, and counts what is held back`() {
        var table = table(outboxBytesMax: 8)
        let slot = serve(0, in: &table)
        sockets.room[id(0)] = 3
        table.append(to: slot) { $0 += [1, 2, 3, 4] }
        writeAll(&table)
        #expect(table.bytesBlocked == 1)
        let unshared = share(&table, with: [0])
        #expect(unshared == [0], "it is blocked")
        let room = table.room(of: slot, at: start)
        #expect(room == .accepts)
        let before = table.ownBytes(of: slot)
        table.append(to: slot) { $0 += Array(repeating: 5, count: 8) }
        let isTooMuch = table.countHeldBack(slot, since: before)
        #expect(!isTooMuch)
        #expect(table.bytesHeldBack == 8)
        let full = table.room(of: slot, at: start)
        #expect(full == .full)
        sockets.pending[id(0)] = nil
        sockets.room[id(0)] = nil
        table.drained(slot)
        #expect(table.bytesBlocked == 0)
        writeAll(&table)
        #expect(table.bytesHeldBack == 0)
    }

    @Test func `counts what the kernel keeps for each slow client`() {
        var table = table()
        let slots = (0..<3 as Range<UInt32>).map { serve($0, in: &table) }
        for (count, slot) in slots.enumerated() {
            sockets.room[id(UInt32(slot))] = 1
            table.append(to: slot) { $0 += [1, 2] }
            writeAll(&table)
            let room = table.room(of: slot, at: start)
            #expect(room == (count < 2 ? .accepts : .full))
        }
    }

    @Test func `has a connection that missed an event take none until it has caught up`() {
        var table = table()
        let slot = serve(0, in: &table)
        table.missed(slot)
        let unshared = share(&table, with: [0])
        let room = table.room(of: slot, at: start)
        #expect(unshared == [0] && room == .full)
        table.updateList(of: slot) { $0.ask() }
        table.updateList(of: slot) { $0.caughtUp() }
        let shared = share(&table, with: [0])
        #expect(shared.isEmpty)
        writeAll(&table)
    }

    @Test func `reports a broken socket, and keeps no bytes of it`() {
        var table = table(outboxBytesMax: 4)
        let slot = serve(0, in: &table)
        sockets.broken = [id(0)]
        table.append(to: slot) { $0 += [1, 2, 3, 4] }
        let room = table.room(of: slot, at: start)
        #expect(room == .broken)
        table.beginClosing(slot)
        table.free(slot)
        writeAll(&table)
    }

    @Test func `closes a connection that reads nothing, not one that is slow`() {
        var table = table()
        let slot = serve(0, in: &table)
        sockets.room[id(0)] = 0
        table.append(to: slot) { $0 += Array(repeating: 1, count: 50) }
        writeAll(&table)
        // Its silence is due first.
        let later = start.advanced(bySeconds: 3_600)
        let silent = table.popDue(now: later)
        #expect(silent?.kind == .silence)
        sockets.pending[id(0)] = 20
        for isReading in [true, false] {
            let due = table.popDue(now: later)
            #expect(due?.kind == .progress)
            let hasRead = table.hasProgressed(slot, at: start)
            #expect(hasRead == isReading && table.bytesBlocked == 20)
        }
    }

    @Test func `writes a part of many outboxes in a turn, in their order`() {
        var table = table(perTurn: 2)
        for slot in 0..<5 as Range<UInt32> {
            let slot = serve(slot, in: &table)
            table.append(to: slot) { $0 += [1] }
        }
        var written: [Int] = []
        for _ in 0..<3 {
            writeAll(&table)
            written.append(sockets.written.count)
        }
        #expect(written == [2, 4, 5])
        #expect(table.progress == WriteProgress(queued: 5, written: 5))
    }

    @Test func `asks a silent client, then closes it, and hears what is read meanwhile`() {
        var table = table()
        let slot = serve(0, in: &table)
        func check(at milliseconds: UInt64) -> SilenceOutcome? {
            let now = start.advanced(byMilliseconds: milliseconds)
            guard let due = table.popDue(now: now), due.kind == .silence else { return nil }
            return table.checkSilence(of: slot, patience, isWaiting: false, at: now)
        }
        let first = check(at: 60)
        #expect(first == .ask)
        table.hear(slot, byteCount: 1, at: start.advanced(byMilliseconds: 70))
        let second = check(at: 90)
        #expect(second == .waits)
        let third = check(at: 130)
        #expect(third == .ask)
        let fourth = check(at: 160)
        #expect(fourth == .close)
    }

    @Test func `has a token end the session when it expires, not while it is renewed`() {
        var table = table()
        let slot = serve(0, in: &table)
        table.setToken(of: slot, until: start.advanced(byMilliseconds: 10))
        table.beginRefresh(of: slot)
        let due = table.popDue(now: start.advanced(byMilliseconds: 10))
        #expect(due?.kind == .token)
        let endsNow = table.tokenExpired(slot)
        let endsAfterwards = table.endRefresh(of: slot)
        #expect(!endsNow && endsAfterwards)
    }

    @Test func `pauses and resumes reading once each`() {
        var table = table()
        let slot = serve(0, in: &table)
        table.startReading(slot)
        table.pauseReading(slot)
        #expect(sockets.reading.isEmpty)
        table.resumeReading(slot)
        table.resumeReading(slot)
        #expect(sockets.reading == [id(0)])
    }
}
