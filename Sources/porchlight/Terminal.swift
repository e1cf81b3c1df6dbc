import Foundation

/// An error that is printed as it is, on standard error, with exit code 1.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Why a text is not an address with a port.
enum AddressError: Error {
    case form
    case portOutOfRange

    /// As it continues a sentence about the text.
    var words: String {
        switch self {
        case .form: "is not an address with a port"
        case .portOutOfRange: "has a port above 65535"
        }
    }
}

/// `127.0.0.1:7400` or `[::1]:7400` in its parts.
func addressParts(_ text: String) throws(AddressError) -> (host: String, port: UInt16) {
    guard let colon = text.lastIndex(of: ":") else { throw .form }
    var host = String(text[..<colon])
    let digits = text[text.index(after: colon)...]
    guard !host.isEmpty, !digits.isEmpty, digits.allSatisfy({ ("0"..."9").contains($0) }) else {
        throw .form
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
        host = String(host.dropFirst().dropLast())
    } else if host.contains(":") {
        throw .form
    }
    guard let port = UInt16(digits) else { throw .portOutOfRange }
    return (host, port)
}

/// The parts of an address; nil if it is none.
func parseAddress(_ text: String) -> (host: String, port: UInt16)? { try? addressParts(text) }

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
