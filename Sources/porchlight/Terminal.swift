import Foundation

/// Whether a host is a numeric IPv4 or IPv6 address, the latter with or without its zone, such as
/// `fe80::1%eth0`.
func isNumeric(_ host: String) -> Bool {
    var four = in_addr()
    var six = in6_addr()
    let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    return unsafe inet_pton(AF_INET, host, &four) == 1
        || inet_pton(AF_INET6, String(parts[0]), &six) == 1
}

/// A path that does not depend on the directory of this process.
func absolutePath(_ path: String) -> String {
    URL(filePath: path).standardizedFileURL.path(percentEncoded: false)
}

/// The time of day, such as `10:58:01`.
func clockTime(_ milliseconds: Int64) -> String { String(dateAndTime(milliseconds).suffix(8)) }

/// The date and the time of day, such as `2026-11-21 10:58:01`.
///
/// A response of the service has dozens of times: a `DateFormatter` would cost milliseconds.
func dateAndTime(_ milliseconds: Int64) -> String {
    let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
    var time = time_t(rest < 0 ? seconds - 1 : seconds)
    var parts = unsafe tm()
    unsafe localtime_r(&time, &parts)
    let date =
        unsafe padded(parts.tm_year, 4, from: 1_900) + "-" + padded(parts.tm_mon, 2, from: 1)
        + "-" + padded(parts.tm_mday, 2)
    return unsafe date + " " + padded(parts.tm_hour, 2) + ":" + padded(parts.tm_min, 2) + ":"
        + padded(parts.tm_sec, 2)
}

/// A number that counts from `origin`, with zeros before it.
private func padded(_ number: Int32, _ digits: Int, from origin: Int = 0) -> String {
    let text = String(Int(number) + origin)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}

/// A number of seconds in words, such as `4 s` or `3 h 20 min`.
func duration(seconds: Int64) -> String {
    switch seconds {
    case ..<120: "\(max(0, seconds)) s"
    case ..<7_200: "\(seconds / 60) min"
    case ..<172_800: "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
    default: "\(seconds / 86_400) days"
    }
}

/// Colours for a terminal; none if the output is not a terminal, or NO_COLOR is set.
struct Style {
    let isColoured: Bool

    init() {
        isColoured =
            isatty(STDOUT_FILENO) == 1
            && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
    }

    enum Colour: String {
        case green = "32"
        case red = "31"
        case yellow = "33"
        case cyan = "36"
        case grey = "90"
        case bold = "1"
    }

    func paint(_ text: String, _ colour: Colour) -> String {
        isColoured ? "\u{1b}[\(colour.rawValue)m\(text)\u{1b}[0m" : text
    }
}
