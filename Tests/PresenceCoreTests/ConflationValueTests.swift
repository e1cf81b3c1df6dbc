import Testing

@testable import PresenceCore

/// What a session has missed, without an engine.
@Suite struct `What a session has missed` {
    private static let bob = Array("bob".utf8)

    private func conflation(
        sends: Conflation.Ends = [.devices, .sights], sightsMax: Int = 3
    ) -> Conflation {
        Conflation(cursor: .complete, from: 100, sends: sends, sightsMax: sightsMax)
    }

    private func topic(_ number: UInt32) -> TopicHandle { TopicHandle(index: number) }

    private func device(
        _ name: String, began: UInt64, isDirected: Bool = false
    ) -> EndedPresenceLog.Entry {
        EndedPresenceLog.Entry(
            seq: 200, publisher: Self.bob,
            part: .device(Array(name.utf8), .xmpp, began: began, isDirected: isDirected))
    }

    private func sight(_ publisher: String) -> EndedPresenceLog.Entry {
        EndedPresenceLog.Entry(seq: 200, publisher: Array(publisher.utf8), part: .sight)
    }

    private func names(_ entries: [EndedPresenceLog.Entry]) -> [String] {
        entries.map { entry in
            if case .device(let name, _, _, _) = entry.part {
                String(decoding: name, as: UTF8.self)
            } else {
                "sight"
            }
        }
    }

    @Test func `is sent in turn, and what changes again waits for the rest`() {
        var missed = conflation()
        for number: UInt32 in [7, 3, 5, 3] { missed.note(topic(number), [], isLate: false) }
        #expect(missed.topicsInTurn == [topic(3), topic(5), topic(7)])
        missed.remove([topic(3)])
        missed.note(topic(3), [], isLate: false)
        #expect(missed.topicsInTurn == [topic(5), topic(7), topic(3)])
        missed.remove(missed.topicsInTurn[...])
        #expect(missed.topics.isEmpty)
        missed.checkInvariants()
    }

    /// Of a device that others began to see afterwards the client has learnt nothing.
    @Test func `has the ends of devices that the client can know, once each`() {
        var missed = conflation()
        let ends = [
            device("old", began: 99), device("new", began: 100), device("old", began: 99),
            device("directed", began: 150, isDirected: true),
        ]
        missed.note(topic(1), ends[...], isLate: false)
        missed.checkInvariants()
        #expect(names(missed.takeEnded(of: topic(1), and: [])) == ["old"])
        #expect(missed.takeEnded(of: topic(1), and: []).isEmpty)
        // It may have been presented to the client before that stopped taking events.
        missed.note(topic(1), ends[...], isLate: true)
        #expect(names(missed.takeEnded(of: topic(1), and: [])) == ["old", "directed"])
        missed.checkInvariants()
    }

    @Test func `has the ends of devices that the client was sent meanwhile`() {
        var missed = conflation()
        let new = device("new", began: 150)
        missed.note(topic(1), [], isLate: false)
        missed.noteSent(topic(1), newestDevice: 150)
        #expect(names(missed.takeEnded(of: topic(1), and: [new])) == ["new"])
        missed.keepSent { $0 != topic(1) }
        #expect(missed.takeEnded(of: topic(1), and: [new]).isEmpty)
        missed.noteSent(topic(1), newestDevice: 150)
        missed.noteSent(topic(1), newestDevice: nil)
        #expect(missed.takeEnded(of: topic(1), and: [new]).isEmpty)
    }

    @Test func `has no ends that a state says to the client`() {
        let ends = [device("old", began: 1), sight("bob")]
        var missed = conflation(sends: .sights)
        missed.note(topic(1), ends[...], isLate: false)
        #expect(names(missed.takeEnded(of: topic(1), and: [])) == ["sight"])
        missed = conflation(sends: .devices)
        missed.note(topic(1), ends[...], isLate: false)
        #expect(names(missed.takeEnded(of: topic(1), and: [])) == ["old"])
        missed = conflation(sends: [])
        missed.note(topic(1), ends[...], isLate: false)
        #expect(missed.takeEnded(of: topic(1), and: []).isEmpty)
    }

    @Test func `has no more sights than an account has contacts`() {
        var missed = conflation(sightsMax: 2)
        for number: UInt32 in 0..<4 {
            missed.note(topic(number), [sight("p\(number)")], isLate: false)
        }
        #expect(missed.endedCount == 2)
        missed.checkInvariants()
        #expect(names(missed.takeEnded(of: topic(0), and: [])) == ["sight"])
        missed.note(topic(3), [sight("p3")], isLate: false)
        #expect(missed.endedCount == 2)
        missed.checkInvariants()
    }

    @Test func `keeps topics that do not matter if something of them has ended`() {
        var missed = conflation()
        missed.note(topic(1), [sight("bob")], isLate: false)
        missed.note(topic(2), [], isLate: false)
        missed.keep { _ in false }
        #expect(missed.topics == [topic(1)])
        missed.checkInvariants()
    }

    @Test func `is incomplete only for a client that is told ends`() {
        var missed = conflation(sends: [])
        missed.noteLostEnds()
        #expect(!missed.hasLostEnds)
        missed = conflation(sends: .sights)
        missed.noteLostEnds()
        #expect(missed.hasLostEnds)
    }
}

@Suite struct `The log of ended presences` {
    private func entry(_ seq: UInt64) -> EndedPresenceLog.Entry {
        EndedPresenceLog.Entry(seq: seq, publisher: [], part: .sight)
    }

    @Test func `has the entries of an event together`() {
        var log = EndedPresenceLog()
        for seq: UInt64 in [3, 5, 5, 8] { log.append(entry(seq)) }
        #expect(log.entries(ofEvent: 5).count == 2)
        #expect(log.entries(ofEvent: 4).isEmpty)
        #expect(log.entries(ofEvent: 9).isEmpty)
        #expect(!log.hasForgotten(event: 1))
    }

    @Test func `knows what it has forgotten`() {
        var log = EndedPresenceLog(countMax: 4)
        for seq: UInt64 in 1...5 { log.append(entry(seq)) }
        #expect(log.hasForgotten(event: 2))
        #expect(log.entries(ofEvent: 2).isEmpty)
        #expect(!log.hasForgotten(event: 3))
        #expect(log.entries(ofEvent: 3).count == 1)
    }
}
