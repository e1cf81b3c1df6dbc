internal import PresenceCore

extension [UInt8] {
    /// Appends a time in the format of XEP-0082, in UTC and whole seconds: `2026-11-22T13:00:00Z`.
    mutating func append(_ time: Wall) {
        // The years 1970 to 9999, which is what the format can say and the clock may be.
        let seconds = Swift.min(Swift.max(time.milliseconds / 1_000, 0), 253_402_300_799)
        let (days, ofDay) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let date = Self.date(days: days)
        append(date.year, digits: 4)
        append(UInt8(ascii: "-"))
        append(date.month, digits: 2)
        append(UInt8(ascii: "-"))
        append(date.day, digits: 2)
        append(UInt8(ascii: "T"))
        append(ofDay / 3_600, digits: 2)
        append(UInt8(ascii: ":"))
        append(ofDay / 60 % 60, digits: 2)
        append(UInt8(ascii: ":"))
        append(ofDay % 60, digits: 2)
        append(UInt8(ascii: "Z"))
    }

    /// The day of the Gregorian calendar, this number of days after the first of 1970.
    /// https://howardhinnant.github.io/date_algorithms.html#civil_from_days
    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        // From March on, so that the day of a leap year is the last one; eras have 400 years.
        let fromMarch = days + 719_468
        let (era, dayOfEra) = fromMarch.quotientAndRemainder(dividingBy: 146_097)
        let leaps = dayOfEra / 1_460 - dayOfEra / 36_524 + dayOfEra / 146_096
        let yearOfEra = (dayOfEra - leaps) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (
            year: era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        )
    }

    private mutating func append(_ number: Int64, digits: Int) {
        let text = String(number)
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: digits - text.utf8.count))
        append(contentsOf: text.utf8)
    }
}
