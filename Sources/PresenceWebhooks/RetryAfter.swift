/// When a receiver wants the next attempt: RFC 9110, 10.2.3.
enum RetryAfter: Hashable {
    case seconds(Int)
    /// In seconds since 1970 UTC.
    case at(Int64)

    /// Nil if the text is neither a number of seconds nor a date in the current format
    /// (IMF-fixdate).
    init?(_ text: String) {
        if !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
            self = .seconds(Int(text) ?? .max)
        } else if let time = Self.time(ofDate: Array(text.utf8)) {
            self = .at(time)
        } else {
            return nil
        }
    }

    /// The seconds until then; 0 if that time has passed.
    func seconds(at now: Int64) -> Int {
        switch self {
        case .seconds(let seconds): seconds
        case .at(let time): Int(clamping: max(0, time - now))
        }
    }

    // MARK: Dates

    /// The format of a date: a point is any byte, a 0 a digit, anything else itself.
    private static let form = Array("..., 00 ... 0000 00:00:00 GMT".utf8)
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ].map { Array($0.utf8) }

    /// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`. The day of the week is redundant and
    /// is ignored.
    private static func time(ofDate text: [UInt8]) -> Int64? {
        guard text.count == form.count, zip(text, form).allSatisfy(isOfForm),
            let month = months.firstIndex(of: Array(text[8..<11]))
        else { return nil }
        func number(_ range: Range<Int>) -> Int64 {
            text[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        let (day, year) = (number(5..<7), number(12..<16))
        let (hour, minute, second) = (number(17..<19), number(20..<22), number(23..<25))
        // A minute may have a leap second.
        guard 1...31 ~= day, hour < 24, minute < 60, second <= 60 else { return nil }
        let days = daysSince1970(year, month + 1, day)
        return days * 86_400 + hour * 3_600 + minute * 60 + second
    }

    private static func isOfForm(_ byte: UInt8, _ form: UInt8) -> Bool {
        switch form {
        case UInt8(ascii: "."): true
        case UInt8(ascii: "0"): 0x30...0x39 ~= byte
        default: byte == form
        }
    }

    /// Days since 1970 in the Gregorian calendar. Years are counted from March, so that a leap day
    /// is the last day of its year.
    private static func daysSince1970(_ year: Int64, _ month: Int, _ day: Int64) -> Int64 {
        let years = month > 2 ? year : year - 1
        let monthsSinceMarch = Int64((month + 9) % 12)
        let leapDays = years / 4 - years / 100 + years / 400
        let daysBefore = (153 * monthsSinceMarch + 2) / 5 + day - 1
        return years * 365 + leapDays + daysBefore - 719_468
    }
}
