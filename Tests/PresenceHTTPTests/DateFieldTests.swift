import Synchronization
import Testing

@testable import PresenceHTTP

@Suite struct `The date of a response` {
    @Test(
        arguments: [
            (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (1_795_300_000, "Sat, 21 Nov 2026 22:26:40 GMT"),
        ] as [(Int64, String)])
    func `has the format of RFC 9110`(second: Int64, text: String) {
        #expect(DateField.text(of: second) == text)
    }

    @Test func `follows the clock`() {
        let milliseconds = Mutex<Int64>(784_111_777_999)
        let date = DateField { milliseconds.withLock { $0 } }
        #expect(date.text.hasSuffix(":37 GMT"))
        milliseconds.withLock { $0 += 1 }
        #expect(date.text.hasSuffix(":38 GMT"))
    }
}
