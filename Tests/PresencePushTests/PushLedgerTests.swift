import Containers
import HTTPValues
import PresenceCore
import PresenceWire
import Testing
import WebPush

@testable import PresencePush

/// A device of a test, whose endpoint is its name at a host.
func deviceJSON(_ name: String, at host: String = "push.example") -> String {
    // A point of the curve: the public key of the example in RFC 8291.
    let key =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    let address =
        #"{\"endpoint\":\"https://\#(host)/\#(name)\",\"keys\":{\"p256dh\":\"\#(key)\","#
        + #"\"auth\":\"BTBZMqHH6r4Tts7J_aSIgg\"}}"#
    return #"{"device":"\#(name)","pushAddress":"\#(address)"}"#
}

/// An entry of `undelivered`.
func entryJSON(_ number: UInt64, time: Int64 = 5_000, _ devices: [String]) -> String {
    #"{"message":"m\#(number)","account":"carol","why":"absent","time":\#(time),"expires":90000,"#
        + #""body":"a","waiting":1,"devices":[\#(devices.joined(separator: ","))]}"#
}

/// What a reader is sent.
func events(_ entries: [(number: UInt64, json: String)]) -> FeedEvents {
    FeedEvents(
        bytes: Array(entries.map(\.json).joined(separator: ",").utf8), count: entries.count,
        firstTime: .init(milliseconds: 5_000), numbers: entries.map(\.number))
}

@Suite struct `The ledger of pushes` {
    private var random = SplitMix64(seed: 1)

    private func share(_ end: UInt64, _ entries: [(UInt64, [String])]) throws -> PushShare {
        try #require(
            try PushShare(
                events(entries.map { ($0.0, entryJSON($0.0, $0.1.map { deviceJSON($0) })) }),
                FeedCursor(epoch: 1, seq: end), of: 0, among: PushHosts("push.example")))
    }

    private func id(_ number: UInt64, _ device: String) -> PushID {
        PushID(number: number, device: device)
    }

    private mutating func note(
        _ ledger: inout PushLedger, _ answers: [(PushID, PushAnswer)], at now: Int64 = 0
    ) -> PushLedger.Round {
        ledger.note(answers.map { ($0.0, $0.1) }, at: now, wall: 0, &random)
    }

    @Test func `has no push for a message without a text, such as a receipt`() throws {
        func pushes(_ entry: String) throws -> Int {
            try #require(
                try PushShare(
                    events([(3, entry)]), FeedCursor(epoch: 1, seq: 9), of: 0,
                    among: PushHosts("push.example"))
            ).pushes.count
        }
        let entry = entryJSON(3, [deviceJSON("a")])
        #expect(try pushes(entry) == 1)
        #expect(try pushes(entry.replacing(#""body":"a","#, with: "")) == 0)
        // Of a text that app servers are not sent.
        #expect(try pushes(entry.replacing(#""body":"a","#, with: #""cut":true,"#)) == 1)
    }

    @Test mutating func `moves the position to before what is not finished`() throws {
        var ledger = PushLedger(retryMillisecondsMax: 0)
        ledger.beginPass()
        let share = try share(9, [(3, ["a"]), (5, ["a", "b"]), (8, ["c"])])
        _ = note(
            &ledger,
            [
                (id(3, "a"), .accepted), (id(5, "a"), .accepted), (id(5, "b"), .tooMany(nil)),
                (id(8, "c"), .gone),
            ])
        _ = ledger.settle(share)
        #expect(ledger.position == 4)
        #expect(ledger.finished == [id(5, "a"), id(8, "c")])
        #expect(!ledger.isDue(id(8, "c"), at: 0) && ledger.isDue(id(5, "b"), at: 0))
        // What follows is held back, too.
        _ = ledger.settle(try self.share(20, [(20, [])]))
        #expect(ledger.position == 4)
        ledger.beginPass()
        _ = note(&ledger, [(id(5, "b"), .accepted)])
        _ = ledger.settle(try self.share(20, [(5, ["a", "b"]), (8, ["c"]), (20, [])]))
        #expect(ledger.position == 20 && ledger.finished.isEmpty && ledger.nextDue == nil)
    }

    @Test mutating func `forgets what a device has taken`() throws {
        var ledger = PushLedger(retryMillisecondsMax: 0)
        ledger.beginPass()
        _ = note(
            &ledger,
            [
                (id(1, "a"), .unavailable(nil)), (id(2, "a"), .accepted),
                (id(3, "a"), .unavailable(nil)),
            ])
        _ = ledger.settle(try share(3, [(1, ["a"]), (2, ["a"]), (3, ["a"])]))
        #expect(ledger.position == 0 && ledger.finished == [id(2, "a")])
        ledger.beginPass()
        _ = ledger.settle(try share(3, [(3, ["a"])]))
        #expect(ledger.attempts(of: id(1, "a")) == nil && ledger.finished.isEmpty)
        #expect(ledger.attempts(of: id(3, "a")) != nil)
        #expect(ledger.position == 2)
    }

    @Test mutating func `drops what fails while others succeed, after eight attempts`() {
        var ledger = PushLedger(retryMillisecondsMax: 0)
        for attempt in 1...PushLedger.attemptsMax {
            #expect(ledger.attempts(of: id(1, "a")) == (attempt == 1 ? nil : attempt - 1))
            let round = note(
                &ledger,
                [(id(1, "a"), .unavailable(nil)), (id(UInt64(attempt) + 1, "b"), .accepted)])
            let isLast = attempt == PushLedger.attemptsMax
            #expect(round == PushLedger.Round(dropped: isLast ? 1 : 0))
        }
        #expect(ledger.finished.contains(id(1, "a")))
    }

    @Test mutating func `drops nothing while all fail`() {
        var ledger = PushLedger(retryMillisecondsMax: 300_000)
        for _ in 0..<100 {
            let round = note(
                &ledger,
                [(id(1, "a"), .unavailable(.seconds(3))), (id(1, "b"), .unavailable(.seconds(7)))],
                at: 50)
            #expect(round == PushLedger.Round(isDown: true, retryAfterSeconds: 7))
        }
        // All are due after the wait of the reader.
        #expect(ledger.nextDue == 50 && ledger.attempts(of: id(1, "a")) == 0)
    }

    /// The last of these alone says nothing about the push service.
    @Test mutating func `counts an attempt if others succeeded since the last`() {
        var ledger = PushLedger(retryMillisecondsMax: 0)
        for number in 0..<UInt64(PushLedger.attemptsMax) {
            _ = note(&ledger, [(id(1, "a"), .unavailable(nil))])
            _ = note(&ledger, [(id(1, "a"), .unavailable(nil))])
            _ = note(&ledger, [(id(number + 2, "b"), .accepted)])
            #expect(ledger.attempts(of: id(1, "a")) == Int(number))
        }
        #expect(note(&ledger, [(id(1, "a"), .unavailable(nil))]).dropped == 1)
    }

    @Test mutating func `takes 429 as about one browser`() {
        var ledger = PushLedger(retryMillisecondsMax: 0)
        let round = note(&ledger, [(id(1, "a"), .tooMany(.seconds(60)))], at: 1_000)
        #expect(!round.isDown && ledger.nextDue == 61_000)
        #expect(!ledger.isDue(id(1, "a"), at: 60_999) && ledger.isDue(id(1, "a"), at: 61_000))
    }

    @Test mutating func `asks later for what nothing was read of`() {
        var ledger = PushLedger(retryMillisecondsMax: 300_000)
        _ = note(&ledger, [(id(1, "a"), .unavailable(nil))])
        for _ in 0..<20 {
            let due = ledger.nextDue ?? 0
            ledger.postpone(at: due, &random)
            #expect(ledger.nextDue ?? 0 >= due)
        }
        #expect(ledger.nextDue ?? 0 > 100_000)
    }

    @Test mutating func `drops what holds back too much`() throws {
        var ledger = PushLedger(retryMillisecondsMax: 0)
        ledger.beginPass()
        _ = note(&ledger, [(id(1, "a"), .tooMany(nil))])
        for number in 2...UInt64(PushLedger.finishedMax + 2) { ledger.finish(id(number, "b")) }
        #expect(ledger.settle(try share(1, [(1, ["a"])])) == 1)
        #expect(ledger.position == 1 && ledger.nextDue == nil)
    }
}
