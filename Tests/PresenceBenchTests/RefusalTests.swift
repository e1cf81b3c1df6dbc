import EventLoop
import PresenceBench
import Testing

@Suite struct RefusalTests {
    @Test func `more connections than descriptors are refused in a sentence`() throws {
        var fanout = Fanout()
        fanout.accounts = 999_999
        let failure = #expect(throws: BenchFailure.self) { _ = try fanout.run(tiny()) }
        #expect(failure?.description.contains("ulimit -Hn") == true)
    }

    @Test func `a service that is not there is a failure`() throws {
        let loop = try Loop()
        let address = try loop.listen(host: "127.0.0.1", port: 0)
        loop.stopListening()
        var fanout = Fanout()
        fanout.accounts = 4
        fanout.group = 2
        let options = BenchOptions(
            target: .running(address, process: nil), seed: 1, isProgressShown: false)
        let failure = #expect(throws: BenchFailure.self) { _ = try fanout.run(options) }
        #expect(failure?.description.contains("ECONNREFUSED") == true)
        loop.close()
    }
}
