import ArgumentParser
import EventLoop
import Testing

@testable import PresenceBench

/// The load test's own test: each fault it is there to find, it finds.
@Suite(.serialized) struct TamperingTests {
    private func run(
        _ wrong: Tamperer.Wrong, group: Int = 6, mode: Fanout.Mode = .single, window: Int = 60,
        isDrained: Bool = false
    ) throws -> BenchError? {
        let service = try RunningChild()
        defer { service.end() }
        return try Tamperer.with(wrong, at: 50, before: service.address) { address in
            var fanout = try Fanout.parse([])
            fanout.accounts = 12
            fanout.group = group
            fanout.mode = mode
            fanout.window = window
            fanout.events = 300
            fanout.drain = isDrained
            fanout.patienceSeconds = isDrained ? 2 : 10
            let options = BenchOptions(
                target: .running(address, process: nil), seed: 1, isProgressShown: false)
            do {
                _ = try fanout.run(options)
                return nil
            } catch let failure as BenchError {
                return failure
            }
        }
    }

    @Test func `a lost event is found`() throws {
        let failure = try #require(try run(.lose))
        #expect(failure.description == "1 deliveries are lost: no more events arrive.")
    }

    @Test func `an event that comes twice is found`() throws {
        let failure = try #require(try run(.double, mode: .saturated))
        let text = failure.description
        #expect(text.contains("twice") || text.contains("after a newer one"))
    }

    @Test(arguments: [Tamperer.Wrong.lose, .double])
    func `a wrong number of bytes is found`(wrong: Tamperer.Wrong) throws {
        // Whichever client it is: the one of a group that is checked, or one whose bytes are
        // counted.
        let failure = try #require(
            try run(wrong, mode: .saturated, window: 10_000, isDrained: true))
        let text = failure.description
        #expect(text.contains("bytes of events instead of") || text.contains("vent"))
    }

    @Test func `events in the wrong order are found`() throws {
        // Groups of two: the next event of a receiver is of the same publisher.
        let failure = try #require(
            try run(.swapWithNext, group: 2, mode: .saturated))
        #expect(failure.description.contains("after a newer one"))
    }

    @Test func `an event of the wrong publisher is found`() throws {
        let failure = try #require(try run(.otherPublisher))
        #expect(failure.description.contains("another publisher"))
    }

    @Test func `a storm that causes events is found`() throws {
        var storm = try Storm.parse([])
        storm.accounts = 40
        storm.subscriptions = 9
        // Without grace, whoever is lost is gone at once.
        let options = try tiny(serve: ["--disconnect-grace", "0"])
        let failure = #expect(throws: BenchError.self) { _ = try storm.run(options) }
        #expect(failure?.description.contains("to a subscriber that was never away") == true)
    }

    @Test(arguments: [Tamperer.Wrong.double, .swapWithNext])
    func `messages that come twice or in the wrong order are found`(
        wrong: Tamperer.Wrong
    ) throws {
        let service = try RunningChild()
        defer { service.end() }
        try Tamperer.with(wrong, .messages, at: 3, before: service.address) { address in
            var messaging = try Messaging.parse([])
            messaging.accounts = 2
            messaging.messages = 100
            messaging.window = 5
            let options = BenchOptions(
                target: .running(address, process: nil), seed: 1, isProgressShown: false)
            let failure = #expect(throws: BenchError.self) { _ = try messaging.run(options) }
            let text = failure?.description ?? ""
            #expect(
                text.contains("was sent messages in the wrong order")
                    || text.contains("was sent a message twice"))
        }
    }
}
