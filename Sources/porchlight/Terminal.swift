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
func clockTime(_ milliseconds: Int64) -> String { format(milliseconds, "HH:mm:ss") }

/// The date and the time of day, such as `2026-11-21 10:58:01`.
func dateAndTime(_ milliseconds: Int64) -> String { format(milliseconds, "yyyy-MM-dd HH:mm:ss") }

private func format(_ milliseconds: Int64, _ pattern: String) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = pattern
    return formatter.string(from: Date(timeIntervalSince1970: Double(milliseconds) / 1_000))
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
