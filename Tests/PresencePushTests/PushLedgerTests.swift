import Containers
import Deliveries
import HTTPValues
import PresenceCore
import PresenceWire
import Testing
import WebPush

@testable import PresencePush

/// A device of a test, whose endpoint is its name at a host.
func device(_ name: String, at host: String = "push.example") -> PushDevice {
    // A point of the curve: the public key of the example in RFC 8291.
    let key =
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    let address =
        #"{"endpoint":"https://\#(host)/\#(name)","keys":{"p256dh":"\#(key)","#
        + #""auth":"BTBZMqHH6r4Tts7J_aSIgg"}}"#
    return PushDevice(
        name: Array(name.utf8), reach: .push,
        labels: DeviceLabels(alias: [], storedTags: [], pushAddress: Array(address.utf8)))
}

/// A message that is undelivered.
func entry(
    _ number: UInt64, of account: String = "carol", body: String = "a", textBytesMax: Int = 100,
    _ devices: [PushDevice]
) -> UndeliveredEntry {
    UndeliveredEntry(
        number: number,
        message: DeliveredMessage(
            id: MessageID(number: number), time: Wall(milliseconds: 5_000),
            body: Array(body.utf8), ext: []),
        textBytesMax: textBytesMax, account: Array(account.utf8), reason: .absent,
        expires: Wall(milliseconds: 90_000), waiting: 1, devices: devices)
}

/// What a reader is sent.
func events(_ entries: [UndeliveredEntry]) -> FeedEvents {
    FeedEvents(
        bytes: [], count: entries.count, firstTime: Wall(milliseconds: 5_000),
        undelivered: entries)
}

@Suite struct `The ledger of pushes` {
    private var random = SplitMix64(seed: 1)
    private var stored: [ExactText: UnfinishedDelivery] = [:]
    private var ledger = PushLedger(retryMillisecondsMax: 300_000, downMillisecondsMax: 60_000)
    private var now: Int64 = 0

    private func share(
        _ end: UInt64, _ entries: [(UInt64, account: String, devices: [String])]
    ) throws -> PushShare {
        let entries = entries.map { number, account, devices in
            entry(number, of: account, devices.map { device($0) })
        }
        return PushShare(
            events(entries), FeedCursor(epoch: 1, seq: end), of: 0,
            among: try PushHosts("push.example"))
    }

    /// One push of an account to a device, whose endpoint is its name.
    private func push(
        _ number: UInt64, _ device: String, of account: String? = nil
    ) throws -> Push {
        let share = try share(number, [(number, account ?? device, [device])])
        return try #require(share.pushes.first)
    }

    /// What is stored of what is unfinished, as "number device".
    private mutating func unfinished() -> [String] {
        let (begun, finished) = ledger.takeChanges()
        for id in finished { stored[ExactText("\(id.number) \(id.device)")] = nil }
        for delivery in begun {
            stored[ExactText("\(delivery.number) \(delivery.device)")] = delivery
        }
        return stored.keys.map(\.text).sorted()
    }

    private mutating func admit(
        _ number: UInt64, _ device: String, of account: String? = nil
    ) throws -> PushLedger.Admission {
        try ledger.admit(push(number, device, of: account), at: now)
    }

    private mutating func note(_ answer: PushAnswer, _ number: UInt64, _ device: String) -> Int {
        ledger.note(
            answer, to: PushID(number: number, device: ExactText(device)), at: now, wall: 0, &random
        )
    }

    /// A push that is attempted and answered.
    private mutating func attempt(
        _ answer: PushAnswer, _ number: UInt64, _ device: String
    ) throws -> Int {
        #expect(try admit(number, device) == .begun)
        return note(answer, number, device)
    }

    private let waits = PushLedger.Admission.waits(droppedCount: 0)

    @Test func `has no push for a message without a text, such as a receipt`() throws {
        func pushes(_ entry: UndeliveredEntry) throws -> Int {
            PushShare(
                events([entry]), FeedCursor(epoch: 1, seq: 9), of: 0,
                among: try PushHosts("push.example")
            ).pushes.count
        }
        #expect(try pushes(entry(3, [device("a")])) == 1)
        #expect(try pushes(entry(3, body: "", [device("a")])) == 0)
        // Of a text that app servers are not sent.
        #expect(try pushes(entry(3, textBytesMax: 0, [device("a")])) == 1)
    }

    @Test mutating func `says what is not finished, also after a restart`() throws {
        for (number, device) in [(3, "a"), (5, "a"), (5, "b"), (8, "c")] as [(UInt64, String)] {
            #expect(try admit(number, device) == .begun)
        }
        ledger.passed(upTo: 9)
        #expect(ledger.isBusy && unfinished() == ["3 a", "5 a", "5 b", "8 c"])
        #expect(note(.accepted, 3, "a") + note(.accepted, 5, "a") + note(.gone, 8, "c") == 0)
        #expect(unfinished() == ["5 b"])
        // What begins and ends between two changes leaves nothing.
        #expect(try admit(9, "d") == .begun && note(.accepted, 9, "d") == 0)
        #expect(note(.tooMany(nil), 5, "b") == 0)
        #expect(unfinished() == ["5 b"])
        #expect(ledger.waitingCount == 1 && ledger.pendingSince == 5_000)
        // Of a change that could not be stored, all is in the next one.
        let (begun, finished) = ledger.takeChanges()
        ledger.giveBack(finished + [PushID(number: 5, device: "b")])
        #expect(begun.isEmpty && unfinished() == ["5 b"])
        ledger = PushLedger(
            retryMillisecondsMax: 300_000, downMillisecondsMax: 60_000, read: 9,
            unfinished: Array(stored.values))
        #expect(ledger.read == 9 && ledger.pendingSince == 5_000 && unfinished() == ["5 b"])
        #expect(ledger.firstDue(at: now) == 5)
        let again = ledger.takeAgain(try share(9, [(5, "b", ["a", "b"])]), from: 5)
        #expect(again.map(\.id) == [PushID(number: 5, device: "b")])
        #expect(try admit(5, "b") == .begun && note(.accepted, 5, "b") == 0)
        #expect(unfinished() == [] && !ledger.isBusy && ledger.failingCount == 0)
    }

    @Test mutating func `takes one endpoint that fails for no evidence against others`() throws {
        var number: UInt64 = 0
        for round in 0..<200 {
            number += 1
            now += 100
            // 503 with Retry-After, 507, no response.
            let bad = try push(number, "bad")
            if ledger.admit(bad, at: now) == .begun {
                let wait: RetryAfter? = round % 2 == 0 ? .seconds(3_600) : nil
                _ = note(.unavailable(wait), number, "bad")
            }
            #expect(ledger.mayRead(at: now))
        }
        #expect(ledger.attempts(at: try push(1, "bad").subscription.endpoint) == 0)
        #expect(ledger.waitingCount == 200)
        #expect(try attempt(.accepted, number + 1, "good") == 0)
    }

    @Test mutating func `takes several accounts in a row for evidence`() throws {
        #expect(try attempt(.unavailable(nil), 1, "a") == 0)
        #expect(try attempt(.unavailable(nil), 2, "b") == 0)
        // An answer between them, also that there are too many, says that it is not down.
        #expect(try attempt(.tooMany(nil), 3, "c") == 0)
        #expect(try attempt(.unavailable(.seconds(3_600)), 4, "d") == 0)
        #expect(try attempt(.unavailable(nil), 5, "e") == 0)
        #expect(ledger.mayRead(at: now))
        #expect(try attempt(.unavailable(.seconds(3_600)), 6, "f") == 0)
        #expect(!ledger.mayRead(at: now + 59_999))
        #expect(try admit(7, "g") == waits)
        // One push shows whether it is still down, the others wait for it.
        now += 61_000
        #expect(ledger.firstDue(at: now) == 1)
        #expect(try admit(7, "g") == .begun)
        #expect(try admit(8, "h") == waits && ledger.firstDue(at: now) == nil)
        #expect(note(.accepted, 7, "g") == 0)
        // What failed meanwhile is not late for that.
        #expect(ledger.mayRead(at: now) && ledger.firstDue(at: now) == 1)
        #expect(try admit(4, "d") == .begun && admit(8, "h") == .begun)
    }

    @Test mutating func `lets an account have its share of what is in flight`() throws {
        let max = PushLedger.inFlightOfAccountMax
        for number in 1...UInt64(1_000) {
            let isFirst = number <= max
            #expect(try admit(number, "d\(number)", of: "eve") == (isFirst ? .begun : waits))
        }
        #expect(ledger.firstDue(at: now) == nil && unfinished().count == 1_000)
        #expect(try admit(1_001, "bob") == .begun)
        // When one has ended, the next may follow.
        _ = note(.unavailable(nil), 2, "d2")
        #expect(ledger.firstDue(at: now) == UInt64(max) + 1)
    }

    @Test mutating func `asks again when all places are taken`() throws {
        for number in 1...UInt64(PushLedger.inFlightMax) {
            #expect(try admit(number, "d\(number)") == .begun)
        }
        #expect(try admit(99, "e") == .full)
        #expect(note(.accepted, 1, "d1") == 0)
        #expect(try admit(99, "e") == .begun)
    }

    @Test mutating func `leaves most places to endpoints that have not failed`() throws {
        let count = UInt64(PushLedger.inFlightMax)
        for number in 1...count { _ = try attempt(.tooMany(nil), number, "d\(number)") }
        now += 300_000
        let begun = try (1...count).count { try admit($0, "d\($0)") == .begun }
        #expect(begun == PushLedger.retriesInFlightMax)
        #expect(try admit(99, "e") == .begun)
    }

    @Test mutating func `counts attempts at an endpoint, and drops what waits for it`() throws {
        var dropped = 0
        for number in 1...UInt64(FailingEndpoints.attemptsMax) {
            now += 301_000
            #expect(try admit(number, "bad") == .begun)
            #expect(try attempt(.accepted, 100 + number, "good\(number)") == 0)
            dropped = note(.unavailable(nil), number, "bad")
        }
        #expect(
            dropped == FailingEndpoints.attemptsMax && !ledger.isBusy && ledger.failingCount == 0)
    }

    @Test mutating func `counts no attempt while no other has succeeded`() throws {
        for number in 1...UInt64(50) {
            now += 301_000
            #expect(try attempt(.unavailable(nil), number, "a") == 0)
        }
        #expect(ledger.attempts(at: try push(1, "a").subscription.endpoint) == 0)
    }

    @Test mutating func `attempts one push at an endpoint that fails`() throws {
        #expect(try attempt(.unavailable(.seconds(7)), 1, "a") == 0)
        #expect(try admit(2, "a") == waits && ledger.firstDue(at: 6_999) == nil)
        now = 307_000
        #expect(ledger.firstDue(at: now) == 1)
        #expect(try admit(1, "a") == .begun && admit(2, "a") == waits)
        #expect(note(.accepted, 1, "a") == 0 && ledger.firstDue(at: now) == 2)
    }

    @Test mutating func `forgets what devices have taken`() throws {
        for number in 1...UInt64(3) { _ = try attempt(.tooMany(nil), number, "d\(number)") }
        let again = ledger.takeAgain(try share(3, [(3, "d3", ["d3"])]), from: 1)
        #expect(again.map(\.id.number) == [3] && ledger.waitingCount == 1)
        // Nothing is there, or the database cannot be read for a while.
        now = 300_000
        for miss in 1...PushLedger.missesMax {
            #expect(ledger.firstDue(at: now) == 3)
            ledger.missAgain(from: 3, at: now)
            #expect(ledger.isBusy == (miss < PushLedger.missesMax))
            now += PushLedger.missMilliseconds
        }
    }

    @Test mutating func `sets aside so many of an account, and drops its oldest`() throws {
        let max = UInt64(WaitingPushes.countOfAccountMax)
        _ = try attempt(.tooMany(nil), 1, "eve")
        for number in 2...max { #expect(try admit(number, "eve") == waits) }
        #expect(try admit(max + 1, "eve") == .waits(droppedCount: 1))
        #expect(ledger.waitingCount == Int(max))
        #expect(!ledger.isWaiting(PushID(number: 1, device: "eve")))
        #expect(unfinished().count == Int(max) && stored["1 eve"] == nil)
    }

    @Test func `says that what it has no room for at the start is finished`() {
        let max = UInt64(WaitingPushes.countOfAccountMax)
        var ledger = PushLedger(
            retryMillisecondsMax: 1, downMillisecondsMax: 1, read: max + 1,
            unfinished: (1...max + 1).map {
                UnfinishedDelivery(number: $0, device: "d", account: "eve", sent: 5_000)
            })
        let (begun, finished) = ledger.takeChanges()
        #expect(begun.isEmpty && finished == [PushID(number: 1, device: "d")])
    }

    @Test mutating func `keeps what is interrupted`() throws {
        #expect(try admit(1, "a") == .begun)
        ledger.passed(upTo: 1)
        ledger.interrupt(PushID(number: 1, device: "a"), at: now)
        #expect(unfinished() == ["1 a"] && ledger.firstDue(at: now) == 1)
    }

    @Test mutating func `takes devices whose names look the same for two`() throws {
        let names: [ExactText] = ["\u{E9}", "e\u{301}"]
        for name in names {
            var push = try push(1, "d")
            push.id.device = name
            #expect(ledger.admit(push, at: now) == .begun)
        }
        #expect(unfinished().count == 2)
        let id = PushID(number: 1, device: names[0])
        #expect(ledger.note(.accepted, to: id, at: now, wall: 0, &random) == 0)
        #expect(unfinished().count == 1)
    }
}
