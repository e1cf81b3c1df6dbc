import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `What XMPP clients are sent of each other` {
    private func connection(_ slot: UInt32, _ generation: UInt32 = 1) -> ConnectionID {
        ConnectionID(slot: slot, generation: generation)
    }

    @Test func `has a rate limit for strangers, and one for contacts`() {
        var paces = RelayedPaces()
        let now = Mono(milliseconds: 5_000)
        func taken(ofContact: Bool, at now: Mono) -> Int {
            (0..<1_000).count { _ in paces.take(for: 3, ofContact: ofContact, at: now) == nil }
        }
        #expect(taken(ofContact: false, at: now) == 200)
        #expect(taken(ofContact: true, at: now) == 500)
        let later = now.advanced(bySeconds: 10)
        #expect(taken(ofContact: false, at: later) == 20)
        #expect(taken(ofContact: true, at: later) == 100)
        // The slot has another connection.
        paces.remove(3)
        #expect(taken(ofContact: false, at: later) == 200)
    }

    @Test func `answers one request once`() {
        var requests = RelayedRequests()
        let (asker, asked, other) = (connection(1), connection(2), connection(3))
        requests.add([1], from: asker, to: asked)
        requests.add([1], from: asker, to: asked)
        requests.add([], from: asker, to: asked)
        func take(_ id: [UInt8], _ answerer: ConnectionID) -> Bool {
            requests.take(id, from: asker, to: answerer)
        }
        #expect(
            [take([1], other), take([2], asked), take([1], connection(2, 2))] == [
                false, false, false,
            ])
        #expect([take([1], asked), take([1], asked), take([1], asked)] == [true, true, false])
        #expect(take([], asked))
        requests.add([1], from: asker, to: asked)
        requests.remove(1)
        #expect(!take([1], asked))
    }

    @Test func `forgets the oldest of many requests`() {
        var requests = RelayedRequests()
        let (asker, asked) = (connection(1), connection(2))
        for number in 0...RelayedRequests.countMax {
            requests.add(Array("\(number)".utf8), from: asker, to: asked)
        }
        let isFirstKnown = requests.take(Array("0".utf8), from: asker, to: asked)
        let isSecondKnown = requests.take(Array("1".utf8), from: asker, to: asked)
        #expect(!isFirstKnown && isSecondKnown)
    }

    @Test func `is how often an account is asked`() {
        var paces = TokenBuckets<[UInt8]>()
        let pace = Pace.ofRequests
        let now = Mono(milliseconds: 5_000)
        func taken(_ name: String, at now: Mono) -> Int {
            (0..<300).count { _ in paces.take(for: Array(name.utf8), pace, at: now) == nil }
        }
        #expect(taken("amy", at: now) == 100)
        // Others do not make room by being many.
        for number in 0..<900 { _ = paces.take(for: Array("\(number)".utf8), pace, at: now) }
        #expect(taken("amy", at: now) == 0)
        let later = now.advanced(bySeconds: 10)
        for number in 900..<3_000 { _ = paces.take(for: Array("\(number)".utf8), pace, at: later) }
        #expect(taken("bob", at: later) == 100)
    }

    @Test func `is owed by an account, for a while`() {
        var paces = TokenBuckets<[UInt8]>()
        let pace = Pace(perSecond: 1, burst: 2)
        let now = Mono(milliseconds: 5_000)
        let (amy, bob) = (Array("amy".utf8), Array("bob".utf8))
        #expect(paces.wait(of: amy, pace, at: now) == nil)
        for _ in 0..<500 { paces.charge(amy, pace, at: now, waitMillisecondsMax: 60_000) }
        #expect((paces.wait(of: amy, pace, at: now) ?? 0) > 59_000)
        #expect(paces.wait(of: bob, pace, at: now) == nil)
        #expect(paces.wait(of: amy, pace, at: now.advanced(bySeconds: 63)) == nil)
    }
}
