import PresenceCore
import PresenceStore
import Testing

@testable import PresenceServer

/// What is known of cards without their contents, and the reads and writes in progress.
@Suite struct `The sizes of cards` {
    private let connection = ConnectionID(slot: 3, generation: 4)
    private let alice = Array("alice".utf8)
    private let bob = Array("bob".utf8)

    private func summary(_ account: [UInt8], _ bytes: Int, updated: Int64 = 0) -> CardSummary {
        CardSummary(account: account, byteCount: bytes, updated: updated)
    }

    private func cards(_ stored: CardSummary..., at now: Int64 = 1) -> Cards {
        let engine = Engine(
            settings: Settings(),
            at: Moment(mono: Mono(milliseconds: 0), wall: Wall(milliseconds: 0)), seed: 1)
        return Cards(stored: stored, engine, Settings(), at: Wall(milliseconds: now))
    }

    @Test func `are added up, small ones as 512 bytes`() {
        var cards = cards(summary(alice, 4), summary(bob, 1_000))
        #expect(cards.count == 2 && cards.byteCount == 1_512)
        let hadOne = cards.forget(alice)
        let hasOne = cards.forget(alice)
        #expect(hadOne && !hasOne)
        #expect(cards.byteCount == 1_000 && !cards.has(alice) && cards.has(bob))
    }

    @Test func `hold the maximum, whichever of several writes fails`() {
        var cards = cards(summary(alice, 1_000))
        #expect(cards.lack(ofRoomFor: 1_001, of: bob, bytesInAllMax: 2_000) == .inAll)
        #expect(cards.lack(ofRoomFor: 2_000, of: alice, bytesInAllMax: 16_000) == nil)
        let first = cards.beginWrite(of: alice, bytes: 2_000, for: connection)
        // The one before may stay.
        #expect(cards.lack(ofRoomFor: 100, of: bob, bytesInAllMax: 2_000) == .inAll)
        #expect(cards.lack(ofRoomFor: 600, of: alice, bytesInAllMax: 2_000) == .inAll)
        #expect(cards.endWrite(first, isStored: false) == connection)
        #expect(cards.byteCount == 1_000)
        let second = cards.beginWrite(of: alice, bytes: 700, for: connection)
        let third = cards.beginWrite(of: alice, bytes: 0, for: connection)
        _ = cards.endWrite(second, isStored: true)
        #expect(cards.byteCount == 700)
        _ = cards.endWrite(third, isStored: true)
        #expect(cards.byteCount == 0 && cards.count == 0)
        #expect(cards.counters.written == 2 && cards.counters.rejected == 3)
    }

    @Test func `bound what is being stored`() {
        var cards = Cards()
        var numbers: [UInt64] = []
        while cards.lack(ofRoomFor: 65_536, of: alice, bytesInAllMax: .max) == nil {
            numbers.append(cards.beginWrite(of: alice, bytes: 65_536, for: connection))
        }
        #expect(numbers.count == 256)
        #expect(cards.lack(ofRoomFor: 1, of: bob, bytesInAllMax: .max) == .inProgress)
        // Removing takes no room.
        #expect(cards.lack(ofRoomFor: 0, of: bob, bytesInAllMax: 0) == nil)
        _ = cards.endWrite(numbers[0], isStored: true)
        #expect(cards.lack(ofRoomFor: 1, of: bob, bytesInAllMax: .max) == nil)
    }

    @Test func `are read a few at a time, in order`() {
        var cards = Cards()
        var begun: [UInt64] = []
        for number in 0..<200 {
            cards.read(
                of: alice, for: ConnectionID(slot: UInt32(number), generation: 1))
        }
        while let (number, _) = cards.nextRead() { begun.append(number) }
        #expect(begun.count == StoreReads<[UInt8]>.inProgressMax)
        for slot in 0..<200 {
            let ended = cards.endRead(begun.removeFirst(), wasFound: slot != 0)
            #expect(ended.slot == UInt32(slot))
            while let (number, _) = cards.nextRead() { begun.append(number) }
        }
        #expect(begun.isEmpty && cards.counters.read == 199)
    }

    @Test func `are not read for connections that have ended`() {
        var cards = Cards()
        cards.read(of: alice, for: connection)
        cards.remove(connection)
        #expect(cards.nextRead() == nil)
    }

    @Test func `of accounts that nobody uses are forgotten at the start`() {
        let year = Int64(Settings().rememberSeconds) * 1_000
        var cards = cards(summary(alice, 4, updated: 5), summary(bob, 4, updated: 6), at: year + 6)
        #expect(cards.takeAbandoned() == [alice])
        #expect(cards.takeAbandoned().isEmpty)
        #expect(cards.has(alice), "until it is removed")
    }
}
