import EventLoop
import PresenceXMPP
import Testing

@testable import PresenceCore
@testable import PresenceServer

@Suite struct `The output of the engine host` {
    @Test(arguments: 1...4)
    func `has each receiver in the part of its loop, by the loop's own slot`(loopCount: Int) {
        let numbers = (0..<loopCount).map { LoopNumber(index: $0, of: loopCount) }
        var output = HostOutput(loops: loopCount)
        // Slots 0 to 4 of every loop, as the engine knows them.
        let slots = (0..<5).flatMap { slot in numbers.map { $0.engineSlot(UInt32(slot)) } }
        output.shared.effects.receivers = slots
        let topic = TopicHandle(index: 7)
        let body = output.shared.add { bytes, _ in bytes += [1] }
        output.append(.deliver(seq: 9, body, topic), to: 0..<slots.count)
        let parts = output.take().prefix(loopCount)
        #expect(parts.count == loopCount)
        for part in parts {
            #expect(part.own.items.count == 1)
            guard case .fanOut(.deliver(9, body, topic), let receivers) = part.own.items[0] else {
                Issue.record("another item")
                continue
            }
            #expect(Array(part.own.receivers[receivers.range]) == [0, 1, 2, 3, 4])
        }
    }

    @Test func `divides receivers into native clients and those of XMPP`() {
        var output = HostOutput(loops: 1)
        output.shared.effects.receivers = [9, 1, 200, 3, 64, 5]
        #expect(output.divide(1..<5) == (1..<5, 5..<5))
        for slot: UInt32 in [1, 64, 5, 5] { output.stanzaReceivers.insert(slot) }
        let (native, xmpp) = output.divide(1..<5)
        #expect(Set(output.shared.effects.receivers[native]) == [200, 3])
        #expect(Set(output.shared.effects.receivers[xmpp]) == [1, 64])
        // What is outside the range stays.
        #expect(output.shared.effects.receivers.first == 9)
        #expect(output.shared.effects.receivers.last == 5)
        #expect(output.divide(1..<5) == (native, xmpp))
        for slot: UInt32 in [64, 5, 1, 1, 7_000] { output.stanzaReceivers.remove(slot) }
        #expect(output.stanzaReceivers.isEmpty)
        // They stay when the output is taken.
        output.stanzaReceivers.insert(3)
        _ = output.take()
        #expect(output.stanzaReceivers.contains(3))
    }

    @Test func `goes to the loop of its connection, and only there`() {
        let numbers = (0..<3).map { LoopNumber(index: $0, of: 3) }
        var output = HostOutput(loops: 3)
        let connection = numbers[2].connection(StreamID(slot: 5, generation: 1))
        output.append(.caughtUp, for: connection)
        #expect(output.take().map(\.isEmpty) == [true, true, false, true, true, true, true])
        #expect(numbers[2].stream(connection) == StreamID(slot: 5, generation: 1))
        #expect(numbers[2].has(connection) && !numbers[1].has(connection))
    }

    @Test(arguments: 1...3)
    func `goes to the loop in process of its caller`(loopCount: Int) {
        for number in 0..<LoopCount.inProcessMax {
            var output = HostOutput(loops: loopCount)
            let slot = LoopCount.engineSlot(9, ofLoopInProcess: number)
            let caller = ConnectionID(slot: slot, generation: 3)
            #expect(caller.isInProcess)
            output.append(.close(nil, retryAfterSeconds: nil), for: caller)
            #expect(!output.isForFirstOnly)
            let parts = output.take()
            #expect(parts.indices.filter { !parts[$0].isEmpty } == [loopCount + number])
            #expect(parts[loopCount + number].own.items.isEmpty)
        }
    }

    /// One item would keep the memory of a whole turn, for as long as the loop is stalled.
    @Test func `keeps for a stalled loop only what its items refer to`() {
        let numbers = (0..<2).map { LoopNumber(index: $0, of: 2) }
        let connections = numbers.map { $0.connection(StreamID(slot: 5, generation: 1)) }
        var output = HostOutput(loops: 2)
        _ = output.shared.add { bytes, _ in bytes += Array(repeating: 1, count: 100_000) }
        output.shared.effects.bytes = Array("alice, bob".utf8)
        output.shared.effects.names = [
            ByteRange(start: 0, count: 5), ByteRange(start: 7, count: 3),
        ]
        output.shared.effects.receivers = connections.map(\.slot)
        output.append(
            .expired(.presence, .unsubscribed, names: BatchRange(1..<2)), to: 0..<2)
        for connection in connections { output.append(.missed, for: connection) }
        let parts = output.take(stalled: [1])
        #expect(parts[0].byteCount > 100_000)
        #expect(parts[1].byteCount < 1_000)
        for part in parts.prefix(2) {
            guard
                case .fanOut(.expired(.presence, .unsubscribed, let places), let receivers) =
                    part.own.items[0],
                let name = part.shared.effects.names[places].first
            else {
                Issue.record("another item")
                continue
            }
            #expect(places.range.count == 1 && part.own.receivers[receivers.range] == [5])
            let bytes = part.shared.effects.bytes[Int(name.start)...].prefix(Int(name.count))
            #expect(Array(bytes) == Array("bob".utf8))
        }
    }

    @Test func `copies directed presences for a stalled loop`() {
        var output = HostOutput(loops: 2)
        _ = output.shared.add { bytes, _ in bytes += Array(repeating: 1, count: 100_000) }
        output.shared.effects.bytes = Array("bob/phone".utf8)
        output.shared.effects.availabilities = [Availability(text: Array("Bye".utf8))]
        var presence = DirectedPresence(
            account: AccountHandle(index: 0), sender: ByteRange(start: 0, count: 3),
            device: DeviceEntry(
                client: .ios, name: ByteRange(start: 4, count: 5), reach: .connection),
            kind: .unavailable)
        let brief = output.shared.addStanzas { $0.append(presence, in: $1) }
        presence.device.availability = 0
        let all = output.shared.addStanzas { $0.append(presence, in: $1) }
        let connection = LoopNumber(index: 1, of: 2).connection(StreamID(slot: 5, generation: 1))
        output.shared.effects.receivers = [connection.slot]
        output.append(.direct(all, .end(brief: brief)), to: 0..<1)
        output.append(.direct(all, .endForSubscribers(brief: all)), to: 0..<1)
        output.append(.direct(all, .beginning), to: 0..<1)
        let part = output.take(stalled: [1])[1]
        #expect(part.byteCount < 1_000)
        let copied = part.own.items.map { item -> [String?] in
            guard case .fanOut(.direct(let all, let delivery), _) = item else { return [] }
            return [all, delivery.brief].map { $0.map { written($0, of: part.shared) } }
        }
        let start = "<presence from='bob@e.org/phone' to='a@e.org' type='unavailable'"
        let (whole, end) = (start + "><status>Bye</status></presence>", start + "/>")
        #expect(copied == [[whole, end], [whole, whole], [whole, nil]])
    }

    /// Stanzas as a receiver gets them.
    private func written(_ stanzas: BatchIndex<Stanzas>, of shared: SharedOutput) -> String {
        var filled = DomainStanzas()
        filled.fill(shared.part(of: stanzas), of: shared.stanzas, at: Array("e.org".utf8))
        var output: [UInt8] = []
        output.append(filled, to: Array("a@e.org".utf8))
        return String(decoding: output, as: UTF8.self)
    }

    /// An account on another loop can cause one with each change of its list.
    @Test func `copies notices of contacts for a stalled loop`() {
        var output = HostOutput(loops: 2)
        _ = output.shared.add { bytes, _ in bytes += Array(repeating: 1, count: 100_000) }
        output.shared.effects.bytes = Array("alice, bob: hello".utf8)
        for text in [ByteRange(start: 12, count: 5), nil] {
            output.shared.effects.notices.append(
                ContactNotice(
                    contact: ContactEntry(
                        account: ByteRange(start: 7, count: 3),
                        label: ByteRange(start: 0, count: 0), seen: .none, sees: .pending,
                        requestText: text, requestExtra: text, isApprovedBefore: false,
                        isListed: false),
                    word: .subscribe, isListChanged: true))
        }
        let connection = LoopNumber(index: 1, of: 2).connection(StreamID(slot: 5, generation: 1))
        output.shared.effects.receivers = [connection.slot]
        for notice in [1, 0] { output.append(.contact(BatchIndex(notice)), to: 0..<1) }
        let part = output.take(stalled: [1])[1]
        #expect(part.byteCount < 1_000)
        let effects = part.shared.effects
        func text(_ range: ByteRange) -> String {
            let start = Int(range.start)
            return String(decoding: effects.bytes[start..<start + Int(range.count)], as: UTF8.self)
        }
        let copied = part.own.items.map { item -> [String?] in
            guard case .fanOut(.contact(let notice), _) = item else { return [] }
            let contact = effects.notices[notice].contact
            #expect(contact.requestText.map(text) == contact.requestExtra.map(text))
            return [text(contact.account), contact.requestText.map(text)]
        }
        #expect(copied == [["bob", nil], ["bob", "hello"]])
    }

    @Test func `keeps nothing when no item refers to it`() {
        var output = HostOutput(loops: 1)
        _ = output.shared.add { bytes, _ in bytes += [1, 2, 3] }
        output.shared.effects.bytes = [1]
        output.removeAll()
        #expect(output.shared.bytes.isEmpty && output.shared.effects.bytes.isEmpty)
    }

    /// They are appended and copied for every request and every event that is missed.
    @Test func `and its input have small items`() {
        #expect(MemoryLayout<OutboundItem>.stride <= 32)
        #expect(MemoryLayout<InboundItem>.size <= 160)
        print("items: \(MemoryLayout<InboundItem>.size) and \(MemoryLayout<OutboundItem>.size) B")
    }
}

@Suite struct `Questions that wait` {
    private let first = ConnectionID(slot: 1, generation: 1)
    private let second = ConnectionID(slot: 2, generation: 1)
    private let start = Mono(milliseconds: 1_000)

    private func question(_ connection: ConnectionID) -> Question {
        Question(connection: connection, subject: .stats)
    }

    @Test func `are forgotten with their connections`() {
        var questions = Questions()
        questions.append(question(first))
        questions.append(question(second))
        questions.forget(first)
        let next = questions.next(askedOf: 1)
        #expect(next?.question.connection == second)
        #expect(!questions.isWaiting)
    }

    @Test func `are not answered when the connection ends while loops are asked`() {
        var questions = Questions()
        questions.append(question(first))
        let number = questions.next(askedOf: 2)?.number ?? 0
        #expect(questions.add(LoopReport(), for: number) == nil)
        questions.forget(first)
        questions.append(question(second))
        #expect(questions.add(LoopReport(loop: 1), for: number) == nil)
        #expect(questions.next(askedOf: 1)?.question.connection == second)
    }

    @Test func `are answered when every loop has reported`() {
        var questions = Questions()
        questions.append(question(first))
        let number = questions.next(askedOf: 2)?.number ?? 0
        #expect(questions.add(LoopReport(), for: number) == nil)
        let complete = questions.add(LoopReport(loop: 1), for: number)
        #expect(complete?.question.connection == first)
        #expect(complete?.reports.count == 2)
    }

    @Test func `do not wait for stalled loops`() {
        var questions = Questions()
        questions.append(question(first))
        let number = questions.next(askedOf: 2)?.number ?? 0
        var known = LoopReport(loop: 1)
        known.measured.connections = 7
        #expect(questions.add(known, for: number, without: [1]) == nil)
        #expect(questions.add(LoopReport(loop: 0), for: number, without: [1]) != nil)

        questions.append(question(second))
        let next = questions.next(askedOf: 2)?.number ?? 0
        #expect(questions.endIfComplete(without: [1]) == nil)
        let partial = questions.add(LoopReport(loop: 0), for: next, without: [1])
        #expect(partial?.question.connection == second)
        #expect(partial?.reports.map(\.measured.connections) == [0, 7])
        // It reports after all.
        #expect(questions.add(known, for: next) == nil)
    }

    @Test func `do not wait for loops that were stalled when they were asked`() {
        var questions = Questions()
        questions.append(question(first))
        let number = questions.next(askedOf: 2, without: [1])?.number ?? 0
        #expect(questions.add(LoopReport(loop: 0), for: number)?.reports.count == 2)
    }

    @Test func `are answered at once when every loop is stalled`() {
        var questions = Questions()
        questions.append(question(first))
        _ = questions.next(askedOf: 2)
        #expect(questions.endIfComplete(without: [0]) == nil)
        #expect(questions.endIfComplete(without: [0, 1])?.reports.count == 2)
    }
}
