import HTTPValues

/// A response, of any status.
public struct OutgoingResponse: Sendable {
    /// Its status.
    public let status: Int
    /// Its body, up to the request's `responseBytesMax`.
    public internal(set) var body: [UInt8] = []
    /// Whether `body` is complete.
    public internal(set) var isWhole = true
    /// Names in small letters.
    var headers: [(name: [UInt8], value: String)] = []

    init(status: Int) {
        self.status = status
    }

    /// The value of a header; the first if there are several.
    public func header(_ name: String) -> String? {
        let name = name.utf8.lowercasedASCII
        return headers.first { $0.name == name }?.value
    }
}

/// Makes a response of what libcurl receives: lines of the head, and parts of the body.
///
/// libcurl forgives much, takes a line that only begins with `HTTP/` for success, and has no limit
/// for all lines together. So the lines are read here.
struct ResponseCollector {
    /// The most bytes of all lines, those of provisional responses and trailers included.
    static let headBytesMax = 64 << 10
    /// What a line counts for at least: newer versions of libcurl accept 5,000 lines.
    private static let lineBytesMin = 32

    /// Why the rest of a response is not read.
    enum Stop: Hashable {
        case bodyTooLong
        case headTooLong
        case malformedStatus
    }

    private enum Phase {
        case statusLine
        /// The status is below 200: another head follows.
        case provisional
        case head
        /// What follows is the body, and then trailers, which are ignored.
        case body
    }

    private let bodyBytesMax: Int
    private var phase = Phase.statusLine
    private var headBytes = 0
    private var received = OutgoingResponse(status: 0)
    /// Set when the transfer is to be ended.
    private(set) var stop: Stop?

    init(bodyBytesMax: Int) {
        self.bodyBytesMax = bodyBytesMax
    }

    /// The response so far; nil before its head is complete.
    var response: OutgoingResponse? { phase == .body ? received : nil }

    /// Takes a line of the head with its line end; the empty one is its end.
    mutating func take(line: [UInt8]) {
        headBytes += max(line.count, Self.lineBytesMin)
        guard headBytes <= Self.headBytesMax else { return stop = .headTooLong }
        let line = Self.withoutEnd(line[...])
        switch phase {
        case .statusLine:
            guard let status = Self.status(line) else { return stop = .malformedStatus }
            phase = status < 200 ? .provisional : .head
            received = OutgoingResponse(status: status)
        case .provisional:
            if line.isEmpty { phase = .statusLine }
        case .head:
            if line.isEmpty { phase = .body }
            if let header = Self.header(line) { received.headers.append(header) }
        case .body: break
        }
    }

    /// Takes a part of the body.
    mutating func take(part: [UInt8]) {
        guard phase == .body else { return stop = .malformedStatus }
        let room = max(0, bodyBytesMax - received.body.count)
        received.body += part.prefix(room)
        received.isWhole = part.count <= room
        if !received.isWhole { stop = .bodyTooLong }
    }

    // MARK: Lines (RFC 9112, 4 and 5)

    /// The status of `HTTP/1.1 200 OK`, or `HTTP/2 200`.
    private static func status(_ line: ArraySlice<UInt8>) -> Int? {
        let words = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0].starts(with: "HTTP/".utf8), words[1].count == 3,
            words[1].allSatisfy({ 0x30...0x39 ~= $0 })
        else { return nil }
        let status = words[1].reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return status >= 100 ? status : nil
    }

    /// Nil for what has no name, such as a line that continues another.
    private static func header(_ line: ArraySlice<UInt8>) -> (name: [UInt8], value: String)? {
        guard let first = line.first, !isSpace(first),
            let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex
        else { return nil }
        let name = line[..<colon].lowercasedASCII
        let value = line[(colon + 1)...].drop(while: isSpace)
        return (name, String(decoding: value, as: UTF8.self))
    }

    private static func withoutEnd(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let last = line.lastIndex { !isSpace($0) && $0 != 0x0A && $0 != 0x0D }
        return line[..<(last.map { $0 + 1 } ?? line.startIndex)]
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
