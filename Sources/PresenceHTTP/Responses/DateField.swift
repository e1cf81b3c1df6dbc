import Glibc
import Synchronization

/// The `Date` of responses, formatted once a second.
final class DateField: Sendable {
    private struct Formatted {
        var second: Int64
        var text: String
    }

    private let wallMilliseconds: @Sendable () -> Int64
    private let latest: Mutex<Formatted>

    /// A field that takes the time from this clock, in milliseconds since 1970 UTC.
    init(_ wallMilliseconds: @escaping @Sendable () -> Int64) {
        self.wallMilliseconds = wallMilliseconds
        latest = Mutex(Formatted(second: .min, text: ""))
    }

    /// The current date.
    var text: String {
        let second = wallMilliseconds() / 1_000
        return latest.withLock { latest in
            if latest.second != second {
                latest = Formatted(second: second, text: Self.text(of: second))
            }
            return latest.text
        }
    }

    /// A second since 1970 UTC as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
    ///
    /// The names of days and months are English: the process never calls `setlocale`.
    static func text(of second: Int64) -> String {
        var time = time_t(second)
        var fields = unsafe tm()
        unsafe gmtime_r(&time, &fields)
        return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            let count = unsafe strftime(
                start, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &fields)
            return unsafe count > 0 ? String(cString: start) : ""
        }
    }
}
