import Containers
import Deliveries
import Testing

@Suite struct `Waiting after a failure` {
    @Test func `is anywhere up to a bound that doubles`() {
        var random = SplitMix64(seed: 1)
        var backoff = Backoff(millisecondsMax: 300_000)
        var bound = 1_000
        for failures in 1...20 {
            let wait = backoff.fail(&random)
            #expect(0...bound ~= wait && backoff.failures == failures)
            bound = min(bound * 2, 300_000)
        }
        backoff.succeed()
        #expect(backoff.fail(&random) <= 1_000)
    }

    @Test func `uses the whole of the time`() {
        var random = SplitMix64(seed: 2)
        let waits = (0..<1_000).map { _ in
            var backoff = Backoff(millisecondsMax: 300_000)
            return backoff.fail(&random)
        }
        #expect(waits.contains { $0 < 50 } && waits.contains { $0 > 950 })
    }

    @Test(arguments: [(5, 5_000), (-1, 0), (1_000_000, 3_600_000)])
    func `is as long as the receiver asks for, within reason`(seconds: Int, least: Int) {
        var random = SplitMix64(seed: 3)
        var backoff = Backoff(millisecondsMax: 1_000)
        let wait = backoff.fail(retryAfterSeconds: seconds, &random)
        #expect(least...(least + 1_000) ~= wait)
    }
}
