import Containers
import Testing

@testable import OutgoingHTTP

@Suite struct `The head of a response` {
    private func collect(_ lines: [String]) -> ResponseCollector {
        var collector = ResponseCollector(bodyBytesMax: 10)
        for line in lines where collector.stop == nil { collector.take(line: Array(line.utf8)) }
        return collector
    }

    @Test func `has a status and headers`() {
        let collector = collect([
            "HTTP/1.1 503 Busy: later\r\n", "Retry-After:  7 \r\n", "RETRY-AFTER: 8\r\n", "A:\r\n",
            "\r\n",
        ])
        #expect(collector.response?.status == 503)
        #expect(collector.response?.header("retry-after") == "7")
        #expect(collector.response?.header("a") == "")
        #expect(collector.response?.header("b") == nil)
    }

    @Test(arguments: ["HTTP/2 200\r\n", "HTTP/1.0 200\n", "HTTP/1.1 200 \r\n"])
    func `may have no reason`(line: String) {
        #expect(collect([line, "\r\n"]).response?.status == 200)
    }

    @Test(arguments: [
        "", "\r\n", "HTTP/1.1\r\n", "HTTP/1.1 \r\n", "HTTP/1.1 nonsense\r\n", "HTTP/1.1 20 OK\r\n",
        "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 099 OK\r\n", "HTTP/1.1 -20 OK\r\n", "HTTP 200 OK\r\n",
        "HTTP/1.1  200 OK\r\n", " HTTP/1.1 200 OK\r\n", "SSH-2.0 200\r\n",
    ])
    func `begins with a status`(line: String) {
        #expect(collect([line]).stop == .malformedStatus)
    }

    @Test func `follows those of provisional responses`() {
        let collector = collect([
            "HTTP/1.1 100 Continue\r\n", "retry-after: 1\r\n", "\r\n", "HTTP/1.1 103 Hints\r\n",
            "\r\n", "HTTP/1.1 204 Done\r\n", "\r\n",
        ])
        #expect(collector.response?.status == 204)
        #expect(collector.response?.header("retry-after") == nil)
        #expect(collect(["HTTP/1.1 100 Continue\r\n", "\r\n"]).response == nil)
    }

    @Test func `has no part in trailers and in lines without a name`() {
        let collector = collect([
            "HTTP/1.1 200 OK\r\n", "a: 1\r\n", " retry-after: 2\r\n", "retry-after\r\n", ": 3\r\n",
            "\r\n", "retry-after: 4\r\n",
        ])
        #expect(collector.response?.headers.count == 1)
    }

    @Test func `is bounded, with everything before and after it`() {
        let line = "a: \(String(repeating: "b", count: 1_019))\r\n"
        let fits = ["HTTP/1.1 200 OK\r\n"] + Array(repeating: line, count: 63)
        #expect(collect(fits).stop == nil)
        #expect(collect(fits + [line]).stop == .headTooLong)
        #expect(collect(fits + ["\r\n"] + [line]).stop == .headTooLong)
        let provisional = ["HTTP/1.1 100 Continue\r\n", "\r\n"]
        let many = Array(repeating: provisional, count: 3_000).flatMap(\.self)
        #expect(collect(many).stop == .headTooLong)
    }

    @Test func `is before the body, which is kept up to a limit`() {
        var early = ResponseCollector(bodyBytesMax: 10)
        early.take(part: [1])
        #expect(early.stop == .malformedStatus)
        var collector = collect(["HTTP/1.1 200 OK\r\n", "\r\n"])
        collector.take(part: Array(0..<8))
        collector.take(part: [8, 9])
        #expect(collector.stop == nil && collector.response?.isWhole == true)
        collector.take(part: [10])
        #expect(collector.stop == .bodyTooLong && collector.response?.isWhole == false)
        #expect(collector.response?.body == Array(0..<10))
    }

    @Test func `may be any bytes`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let letters: [UInt8] = [0, 0x09, 0x0A, 0x0D, 0x20, 0x3A, 0x61, 0xFF]
        for _ in 0..<2_000 {
            var collector = ResponseCollector(bodyBytesMax: 10)
            collector.take(line: Array("HTTP/1.1 200 OK\r\n".utf8))
            for _ in 0..<5 {
                let count = Int.random(in: 0...12, using: &random)
                let bytes = (0..<count).map { _ in letters.randomElement(using: &random) ?? 0 }
                collector.take(line: bytes)
            }
            #expect(collector.stop == nil)
        }
    }
}

@Suite struct `The headers of a request` {
    @Test func `are what is given, and no others`() throws {
        let lines = try RequestHeaders.lines([("A", "b: c"), ("content-type", "x"), ("Empty", "")])
        #expect(lines == ["A: b: c", "content-type: x", "Empty;", "Accept:", "Expect:"])
    }

    @Test(arguments: [
        ("a b", "c"), ("", "c"), ("a:", "c"), ("a\r\nb", "c"), ("é", "c"), ("a", "b\r\nc: d"),
        ("a", "b\nc: d"), ("a", "b\rc"), ("a", "b\0"), ("a", "\u{7F}"),
    ])
    func `cannot be more than one`(name: String, value: String) {
        let error = #expect(throws: OutgoingError.self) {
            try RequestHeaders.lines([("good", "x"), (name, value)])
        }
        #expect(error?.text(timeoutSeconds: 1).hasPrefix("cannot send: the header ") == true)
    }
}
