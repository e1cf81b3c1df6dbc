import Containers
import PresenceClient
import PresenceCore
import Testing

@testable import PresenceServer

@Suite struct `Logins that fail` {
    private let pace = Pace(perSecond: 10, burst: 5)
    private func mono(_ seconds: Double) -> Mono { Mono(milliseconds: UInt64(seconds * 1_000)) }

    @Test func `make a network suspect for as long as they come too often`() {
        var failed = NetworkBuckets(seed: 7)
        let one = ClientNetwork(address: [192, 0, 2, 1])
        let other = ClientNetwork(address: [192, 0, 2, 2])
        for _ in 0..<5 {
            #expect(failed.wait(of: one, pace, at: mono(1_000)) == nil)
            let isTaken = failed.take(one, pace, at: mono(1_000))
            #expect(isTaken)
        }
        #expect(failed.wait(of: one, pace, at: mono(1_000)) != nil)
        #expect(failed.wait(of: other, pace, at: mono(1_000)) == nil)
        // However many there were: nothing is owed.
        for _ in 0..<100_000 { _ = failed.take(one, pace, at: mono(1_000)) }
        #expect(failed.wait(of: one, pace, at: mono(1_000.1)) == nil)
        #expect(failed.wait(of: nil, pace, at: mono(1_000)) == nil)
        #expect(failed.wait(of: one, nil, at: mono(1_000)) == nil)
    }

    @Test func `with a wrong password are owed`() {
        var failed = NetworkBuckets(seed: 7)
        let network = ClientNetwork(address: [192, 0, 2, 1])
        // Ten guesses in progress at once, of ten tokens each: nine seconds and a half are owed.
        for _ in 0..<10 { failed.charge(10, to: network, pace, at: mono(1_000)) }
        #expect(failed.wait(of: network, pace, at: mono(1_000)) == 9_600)
        #expect(failed.wait(of: network, pace, at: mono(1_009.4)) == 200)
        #expect(failed.wait(of: network, pace, at: mono(1_009.7)) == nil)
        // At most ten seconds, however many there were.
        for _ in 0..<10_000 { failed.charge(10, to: network, pace, at: mono(2_000)) }
        #expect(failed.wait(of: network, pace, at: mono(2_000)) == 10_000)
        #expect(failed.wait(of: network, pace, at: mono(2_010)) == nil)
    }

    @Test func `leave the networks of others as they are, however many fail once`() {
        var failed = NetworkBuckets(seed: 7)
        let guesser = ClientNetwork(address: [192, 0, 2, 1])
        for _ in 0..<100 { failed.charge(10, to: guesser, pace, at: mono(1_000)) }
        // 200,000 networks for 8,192 places: each forgets another that owes as little as it does.
        for number in 0..<200_000 {
            let bytes = [10, UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255)]
            let isTaken = failed.take(ClientNetwork(address: bytes), pace, at: mono(1_000))
            #expect(isTaken)
        }
        #expect(failed.wait(of: guesser, pace, at: mono(1_000)) != nil)
        for number in 0..<200 {
            let other = ClientNetwork(address: [198, 51, 100, UInt8(number)])
            #expect(failed.wait(of: other, pace, at: mono(1_000)) == nil)
        }
    }

    @Test func `leave one guess of a password a second`() {
        var failed = NetworkBuckets(seed: 7)
        let network = ClientNetwork(address: [192, 0, 2, 1])
        var guesses = 0
        // Tried again every ten milliseconds for a minute.
        for step in 0..<6_000 {
            let now = mono(1_000 + Double(step) / 100)
            guard failed.wait(of: network, pace, at: now) == nil else { continue }
            failed.charge(10, to: network, pace, at: now)
            guesses += 1
        }
        #expect((60...62).contains(guesses), "\(guesses)")
    }

    @Test func `do not charge what all logins share`() throws {
        try withService({
            $0.access = .credentials
            $0.authenticator = Credentials(tokens: ["t0": "a0", "t1": "a1", "t2": "a2"])
            $0.admission.loginPace = Pace(perSecond: 1, burst: 3)
        }) { service in
            let stranger = try service.connect()
            for _ in 0..<40 {
                let rejection = stranger.rejection(
                    "login", ["token": "none of ours", "device": "d"])
                #expect(rejection.hasPrefix("401 "), "\(rejection)")
            }
            for number in 0..<3 {
                let params: JSON = ["token": .string("t\(number)"), "device": "d"]
                _ = try service.connect().call("login", params)
            }
        }
    }

    @Test func `leave room to those who come from elsewhere, and to their own`() throws {
        try withService({
            $0.access = .credentials
            $0.authenticator = Credentials()
            $0.admission.failedLoginPace = Pace(perSecond: 1, burst: 10)
            $0.admission.suspectTokensMax = 0
        }) { service in
            let stranger = try service.connect()
            // However slow this machine is, more than ten come faster than one a second.
            var rejections: [String] = []
            while rejections.count < 400, rejections.last != "503 overloaded" {
                rejections.append(
                    stranger.rejection("login", ["token": "none of ours", "device": "d"]))
            }
            #expect(rejections.dropLast().allSatisfy { $0.hasPrefix("401 ") })
            #expect(rejections.count > 10)
            // With no room at all for suspects.
            #expect(rejections.last == "503 overloaded")
            service.pass(seconds: 30)
            let later = try service.connect()
            #expect(
                later.rejection("login", ["token": "none of ours", "device": "d"])
                    .hasPrefix("401 "))
        }
    }
}

@Suite struct `Times to come back` {
    @Test func `are bounded, however many are sent away`() {
        var bucket = TokenBucket()
        let pace = Pace(perSecond: 1, burst: 1)
        let now = Mono(milliseconds: 5_000_000)
        for _ in 0..<100_000 {
            let wait = bucket.charge(pace, at: now, waitMillisecondsMax: 27_000)
            #expect((wait ?? 0) <= 27_000)
        }
        // What was taken in advance is over soon.
        #expect(bucket.charge(pace, at: now.advanced(bySeconds: 30)) == nil)
    }
}
