import Testing

@testable import PresenceCore
@testable import PresenceServer

@Suite struct `What XMPP clients are sent of each other` {
    private func connection(_ slot: UInt32, _ generation: UInt32 = 1) -> ConnectionID {
        ConnectionID(slot: slot, generation: generation)
    }

    @Test func `has a rate limit for strangers, and one for contacts`() {
        var paces = RelayedPaces()
        let now = Mono(milliseconds: 5_000)
        func taken(_ sender: UInt32, isContact: Bool, at now: Mono) -> Int {
            let sender = AccountHandle(index: sender)
            return (0..<1_000).count { _ in
                paces.take(for: 3, of: sender, isContact: isContact, at: now) == nil
            }
        }
        // One alone has half, and others of what is left.
        #expect(taken(1, isContact: false, at: now) == 100)
        #expect(taken(2, isContact: false, at: now) == 50)
        #expect(taken(1, isContact: true, at: now) == 250)
        let later = now.advanced(bySeconds: 10)
        #expect(taken(3, isContact: false, at: later) == 35)
        #expect(taken(1, isContact: true, at: later) == 100)
        // The slot has another connection.
        paces.remove(3)
        #expect(taken(1, isContact: false, at: later) == 100)
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
        var paces = SharedTokenBuckets<[UInt8], AccountHandle>()
        let pace = Pace.ofRequests
        let now = Mono(milliseconds: 5_000)
        func take(_ name: String, _ asker: UInt32, at now: Mono) -> UInt64? {
            paces.take(
                of: Array(name.utf8), for: AccountHandle(index: asker), pace, at: now)
        }
        func taken(_ name: String, _ asker: UInt32 = 1, at now: Mono) -> Int {
            (0..<300).count { _ in take(name, asker, at: now) == nil }
        }
        #expect(taken("amy", at: now) == 50)
        // Others are asked by, and do not make room by being many.
        #expect(taken("amy", 2, at: now) == 25)
        for number in 0..<900 { _ = take("\(number)", 1, at: now) }
        #expect(taken("amy", at: now) == 0)
        let later = now.advanced(bySeconds: 10)
        for number in 900..<3_000 { _ = take("\(number)", 1, at: later) }
        #expect(taken("bob", at: later) == 50)
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
