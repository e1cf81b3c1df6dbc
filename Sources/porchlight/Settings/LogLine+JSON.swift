// A line of the log as JSON:
//
//     {"time":"2026-11-21T10:58:01.042Z","level":"warning","message":"webhook not delivered",
//     "times":3,"webhook":"crm"}
//
// It is written here and not by Foundation: a line must be short enough for a pipe, and cutting the
// text of an object leaves no JSON. Nor does it have a character that changes how a terminal shows
// it, as a line of text has none.

import PresenceClient

extension LogLine {
    private static let firstMembers: Set = ["time", "level", "message"]

    /// One JSON object: `time` (RFC 3339, UTC), `level`, `message`, and the values by name.
    ///
    /// - Parameter bytesMax: its greatest length, at least 256. A string for which there is no room
    ///   is cut and ends with `…`; members for which there is none are left out.
    func json(bytesMax: Int) -> [UInt8] {
        var object = BoundedObject(bytesMax: bytesMax)
        object.append("time", .text(utc))
        object.append("level", .text(level))
        object.append("message", .text(message))
        for (name, value) in sortedValues {
            // Of two members with one name, most readers drop the first.
            object.append(Self.firstMembers.contains(name) ? name + "_" : name, value)
        }
        return object.closed
    }

    /// Such as `2026-11-21T10:58:01.042Z`.
    private var utc: String {
        let rest = String(milliseconds % 1_000 + 1_000).suffix(3)
        return Self.time(milliseconds, "%Y-%m-%dT%H:%M:%S", isLocal: false) + ".\(rest)Z"
    }
}

/// A JSON object that is being written and never exceeds its length.
private struct BoundedObject {
    private var bytes = [UInt8(ascii: "{")]
    /// Without the closing brace.
    private let bytesMax: Int
    private static let quotationMark = UInt8(ascii: "\"")
    /// The longest escape of a character: two units of UTF-16.
    private static let scalarBytesMax = 12

    init(bytesMax: Int) {
        self.bytesMax = bytesMax - 1
        bytes.reserveCapacity(min(bytesMax, 256))
    }

    var closed: [UInt8] { bytes + [UInt8(ascii: "}")] }

    /// Adds a member, or as much of its text as there is room for, or nothing.
    mutating func append(_ name: String, _ value: LogLine.Value) {
        let start = bytes.count
        if start > 1 { bytes.append(UInt8(ascii: ",")) }
        let isNamed = appendQuoted(name)
        bytes.append(UInt8(ascii: ":"))
        switch value {
        case .text(let text): appendQuoted(text)
        case .number, .isTrue: bytes.append(contentsOf: value.text.utf8)
        }
        if !isNamed || bytes.count > bytesMax { bytes.removeSubrange(start...) }
    }

    /// Adds a string. Returns whether there was room for all of it.
    @discardableResult private mutating func appendQuoted(_ text: String) -> Bool {
        bytes.append(Self.quotationMark)
        defer { bytes.append(Self.quotationMark) }
        for scalar in text.unicodeScalars {
            guard bytes.count + Self.scalarBytesMax + "…\"".utf8.count <= bytesMax else {
                bytes.append(contentsOf: "…".utf8)
                return false
            }
            append(scalar)
        }
        return true
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": bytes.append(contentsOf: "\\\"".utf8)
        case "\\": bytes.append(contentsOf: "\\\\".utf8)
        case "\n": bytes.append(contentsOf: "\\n".utf8)
        case _ where scalar.isVisible: bytes.append(contentsOf: scalar.utf8)
        default:
            for unit in scalar.utf16 {
                let digits = String(unit, radix: 16)
                bytes.append(contentsOf: "\\u".utf8)
                bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.count))
                bytes.append(contentsOf: digits.utf8)
            }
        }
    }
}
