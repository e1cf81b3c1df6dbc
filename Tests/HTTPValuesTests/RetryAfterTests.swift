import HTTPValues
import Testing

@Suite struct `When a receiver asks to be tried again` {
    @Test(arguments: [
        ("0", 0), ("120", 120), ("99999999999999999999", Int.max),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
        ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
        ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ])
    func `it says so in seconds, or as a date`(text: String, seconds: Int) {
        #expect(RetryAfter(text)?.seconds(at: 0) == seconds)
    }

    @Test(arguments: [(784_111_770, 7), (784_111_777, 0), (784_111_800, 0)] as [(Int64, Int)])
    func `a date counts from now`(now: Int64, seconds: Int) {
        #expect(RetryAfter("Sun, 06 Nov 1994 08:49:37 GMT")?.seconds(at: now) == seconds)
    }

    @Test(arguments: [
        "", "-1", "+1", "1.5", "soon", "1 ", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994",
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 0٣ Nov 1994 08:49:37 GMT",
    ])
    func `other texts are ignored`(text: String) {
        #expect(RetryAfter(text) == nil)
    }
}
