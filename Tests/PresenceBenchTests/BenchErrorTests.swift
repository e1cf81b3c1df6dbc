import ArgumentParser
import EventLoop
import Testing

@testable import PresenceBench

@Suite struct BenchErrorTests {
    @Test func `more connections than descriptors are an error`() throws {
        var fanout = try Fanout.parse([])
        fanout.accounts = 999_999
        let error = #expect(throws: BenchError.self) { _ = try fanout.run(tiny()) }
        #expect(error?.description.contains("ulimit -Hn") == true)
    }

    @Test func `a service that is not there is an error`() throws {
        let loop = try Loop()
        let address = try loop.listen(host: "127.0.0.1", port: 0)
        loop.stopListening()
        var fanout = try Fanout.parse([])
        fanout.accounts = 4
        fanout.group = 2
        let options = BenchOptions(
            target: .running(address, process: nil), seed: 1, isProgressShown: false)
        let error = #expect(throws: BenchError.self) { _ = try fanout.run(options) }
        #expect(
            error?.description == "Cannot connect to \(address) (uv_tcp_connect: connection "
                + "refused (ECONNREFUSED)). Is `porchlight serve` running there?")
        loop.close()
    }
}
