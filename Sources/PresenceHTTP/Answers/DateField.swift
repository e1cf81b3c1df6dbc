import Synchronization

/// The `Date` of responses, made once a second.
final class DateField: Sendable {
    private struct Made {
        var second: Int64
        var text: String
    }

    private let wallMilliseconds: @Sendable () -> Int64
    private let made: Mutex<Made>

    /// By a clock of milliseconds since 1970 UTC.
    init(_ wallMilliseconds: @escaping @Sendable () -> Int64) {
        self.wallMilliseconds = wallMilliseconds
        made = Mutex(Made(second: .min, text: ""))
    }

    /// The date now.
    var text: String {
        let second = wallMilliseconds() / 1_000
        return made.withLock { made in
            if made.second != second { made = Made(second: second, text: Self.text(of: second)) }
            return made.text
        }
    }

    /// A second since 1970 UTC as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7).
    static func text(of second: Int64) -> String {
        let day = (second - ((second % 86_400) + 86_400) % 86_400) / 86_400
        let time = Int(second - day * 86_400)
        // Days of eras of 400 years that begin on 1 March: leap days come last.
        let shifted = day + 719_468
        let era = (shifted - ((shifted % 146_097) + 146_097) % 146_097) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let dayOfMonth = Int(dayOfYear - (153 * marchMonth + 2) / 5 + 1)
        let month = Int(marchMonth < 10 ? marchMonth + 2 : marchMonth - 10)
        let year = yearOfEra + era * 400 + (month < 2 ? 1 : 0)
        let weekday = Int((((day + 4) % 7) + 7) % 7)
        let clock = [time / 3_600, time / 60 % 60, time % 60].map(twoDigits)
        return "\(days[weekday]), \(twoDigits(dayOfMonth)) \(months[month]) \(year) "
            + "\(clock.joined(separator: ":")) GMT"
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
