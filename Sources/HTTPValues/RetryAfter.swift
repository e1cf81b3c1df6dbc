import Glibc

/// When a receiver wants the next attempt: RFC 9110, 10.2.3.
public enum RetryAfter: Hashable, Sendable {
    /// From the response on.
    case seconds(Int)
    /// In seconds since 1970 UTC.
    case at(Int64)

    /// Nil if the text is neither a number of seconds nor a date in the current format
    /// (IMF-fixdate).
    public init?(_ text: String) {
        if !text.isEmpty, text.utf8.allSatisfy(\.isDigit) {
            self = .seconds(Int(text) ?? .max)
        } else if let time = Self.time(ofDate: Array(text.utf8)) {
            self = .at(time)
        } else {
            return nil
        }
    }

    /// The seconds until then; 0 if that time has passed.
    public func seconds(at now: Int64) -> Int {
        switch self {
        case .seconds(let seconds): seconds
        case .at(let time): Int(clamping: max(0, time - now))
        }
    }

    // MARK: Dates

    /// The layout of a date: a point is any byte, a 0 a digit, anything else itself.
    private static let layout = Array("..., 00 ... 0000 00:00:00 GMT".utf8)
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ].map { Array($0.utf8) }

    /// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`. The day of the week is redundant and
    /// is ignored.
    private static func time(ofDate text: [UInt8]) -> Int64? {
        guard text.count == layout.count, zip(text, layout).allSatisfy(fits),
            let month = months.firstIndex(of: Array(text[8..<11]))
        else { return nil }
        func number(_ range: Range<Int>) -> CInt {
            text[range].reduce(0) { $0 * 10 + CInt($1 - 0x30) }
        }
        let (day, year) = (number(5..<7), number(12..<16))
        let (hour, minute, second) = (number(17..<19), number(20..<22), number(23..<25))
        // A minute may have a leap second.
        guard 1...31 ~= day, hour < 24, minute < 60, second <= 60 else { return nil }
        var date = unsafe tm()
        unsafe (date.tm_year, date.tm_mon, date.tm_mday) = (year - 1_900, CInt(month), day)
        unsafe (date.tm_hour, date.tm_min, date.tm_sec) = (hour, minute, second)
        return Int64(unsafe timegm(&date))
    }

    private static func fits(_ byte: UInt8, _ layout: UInt8) -> Bool {
        switch layout {
        case UInt8(ascii: "."): true
        case UInt8(ascii: "0"): byte.isDigit
        default: byte == layout
        }
    }
}
