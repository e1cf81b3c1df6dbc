// Finds the parts of a frame that a load program needs, without a parser: a parser would cost more
// than the server that is measured. Keys are found as eight bytes at a time, in
// the order in which the service writes them. A text inside a string cannot be taken for a key,
// because its quotation marks are escaped. One event in 1,024 is verified by a real parser.

extension RawSpan {
    @inline(__always)
    func byte(_ offset: Int) -> UInt8 {
        unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }

    @inline(__always)
    func word(_ offset: Int) -> UInt64 {
        unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    /// The offset of eight bytes at or after `start`; nil if there is none.
    @inline(__always)
    func find(_ key: UInt64, from start: Int, before end: Int) -> Int? {
        let last = Swift.min(end, byteCount) - 8
        var offset = start
        while offset <= last {
            if word(offset) == key { return offset }
            offset &+= 1
        }
        return nil
    }

    /// The integer that begins at `offset`; moves `offset` to its end.
    @inline(__always)
    func integer(_ offset: inout Int) -> UInt64 {
        var value: UInt64 = 0
        while offset < byteCount {
            let digit = byte(offset) &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            value = value &* 10 &+ UInt64(digit)
            offset &+= 1
        }
        return value
    }
}

/// Eight bytes of text, as they are loaded.
func keyWord(_ text: StaticString) -> UInt64 {
    precondition(text.utf8CodeUnitCount == 8)
    return unsafe UInt64(
        littleEndian: UnsafeRawPointer(text.utf8Start).loadUnaligned(as: UInt64.self))
}

/// The cause of an event.
enum ScannedCause: UInt8 {
    case login, logout, disconnect, publish, restart, sync, other

    /// Recognised by its first four letters.
    @inline(__always)
    init(_ letters: UInt32) {
        switch letters {
        case 0x6C62_7570: self = .publish
        case 0x636E_7973: self = .sync
        case 0x6967_6F6C: self = .login
        case 0x6F67_6F6C: self = .logout
        case 0x6373_6964: self = .disconnect
        case 0x7473_6572: self = .restart
        default: self = .other
        }
    }
}

/// The parts of an event that are read.
struct ScannedEvent {
    /// −1: not an account of this run.
    var publisher: Int
    var value: Int
    var cause: ScannedCause
    var seq: UInt64
}

/// What a frame is.
enum ScannedFrame {
    case events
    /// The login list is complete, with this number of states.
    case synced(Int)
    /// The service closes the connection.
    case close(code: Int, retryAfterSeconds: Int)
    case expired
    case messages
    case answer(id: Int, ScannedResponse)
    case unknown
}

/// The messages of a frame.
struct ScannedMessages {
    var count: Int
    /// The id of the last one, as text.
    var last: [UInt8]
}

/// Whether a request was carried out.
enum ScannedResponse: Equatable {
    case result
    case error(code: Int, retryAfterSeconds: Int)
}

/// Finds the parts of frames.
struct Scanner {
    private let id = keyWord("{\"id\":\"0")
    private let method = keyWord("\"method\"")
    private let publisher = keyWord("\"publish")
    private let value = keyWord("\"value\":")
    private let cause = keyWord("\"cause\":")
    private let seq = keyWord(",\"seq\":0") & 0x00FF_FFFF_FFFF_FFFF
    private let count = keyWord("\"count\":")
    private let code = keyWord("\"code\":0") & 0x00FF_FFFF_FFFF_FFFF
    private let retryAfter = keyWord("retryAft")
    private let error = keyWord("\"error\":")
    private let listEnd = keyWord("\":true}}")

    /// Classifies a frame.
    func frame(_ body: RawSpan) -> ScannedFrame {
        guard let method = body.find(method, from: 1, before: 64), body.byteCount > method + 12
        else { return answer(body) }
        // After `"method":"` two letters distinguish all methods.
        switch (body.byte(method + 10), body.byte(method + 11)) {
        case (UInt8(ascii: "e"), UInt8(ascii: "v")): return .events
        case (UInt8(ascii: "e"), _): return .expired
        case (UInt8(ascii: "s"), _): return .synced(integer(after: count, 8, in: body) ?? 0)
        case (UInt8(ascii: "c"), _):
            return .close(
                code: integer(after: pattern(code), in: body) ?? 0,
                retryAfterSeconds: integer(after: retryAfter, 12, in: body) ?? 0)
        case (UInt8(ascii: "m"), _): return .messages
        default: return .unknown
        }
    }

    /// The messages of a frame; nil if it has none. Ids begin with zeros, as event ids do.
    func messages(_ body: RawSpan) -> ScannedMessages? {
        var found: (count: Int, offset: Int)?
        var offset = 0
        while let next = body.find(id, from: offset, before: body.byteCount) {
            found = ((found?.count ?? 0) + 1, next + 7)
            offset = next + 8
        }
        guard let found, found.offset + Self.idBytes <= body.byteCount else { return nil }
        return ScannedMessages(
            count: found.count,
            last: (found.offset..<found.offset + Self.idBytes).map { body.byte($0) })
    }

    private static let idBytes = 13

    private func answer(_ body: RawSpan) -> ScannedFrame {
        // {"jsonrpc":"2.0","id":7,
        var offset = 22
        guard body.byteCount > offset, body.byte(offset - 1) == UInt8(ascii: ":") else {
            return .unknown
        }
        let id = Int(body.integer(&offset))
        guard body.find(error, from: offset, before: offset + 12) != nil else {
            return .answer(id: id, .result)
        }
        return .answer(
            id: id,
            .error(
                code: integer(after: pattern(code), in: body) ?? 0,
                retryAfterSeconds: integer(after: retryAfter, 12, in: body) ?? 0))
    }

    /// Whether a frame has states of a login list, not events.
    @inline(__always)
    func isList(_ body: RawSpan) -> Bool {
        body.byteCount >= 8 && body.word(body.byteCount - 8) == listEnd
    }

    /// The next event from `offset` on; nil if there is none.
    @inline(__always)
    func nextEvent(_ body: RawSpan, _ offset: inout Int, _ names: Names) -> ScannedEvent? {
        let end = body.byteCount
        guard let name = body.find(publisher, from: offset, before: end),
            let value = body.find(value, from: name + 13, before: end),
            let cause = body.find(cause, from: value + 8, before: end),
            cause + 17 <= end,
            let seq = findKey(seq, body, from: cause + 8)
        else { return nil }
        var valueStart = value + 8
        offset = seq + 7
        return ScannedEvent(
            publisher: names.account(in: body, at: name + 13) ?? -1,
            value: Int(truncatingIfNeeded: body.integer(&valueStart)),
            cause: ScannedCause(UInt32(truncatingIfNeeded: body.word(cause + 9))),
            seq: body.integer(&offset))
    }

    // MARK: Keys of seven bytes

    private struct KeyPattern { let key: UInt64 }
    private func pattern(_ key: UInt64) -> KeyPattern { KeyPattern(key: key) }

    @inline(__always)
    private func findKey(_ key: UInt64, _ body: RawSpan, from start: Int) -> Int? {
        var offset = start
        while offset <= body.byteCount - 8 {
            if body.word(offset) & 0x00FF_FFFF_FFFF_FFFF == key { return offset }
            offset &+= 1
        }
        return nil
    }

    private func integer(after key: KeyPattern, in body: RawSpan) -> Int? {
        guard var offset = findKey(key.key, body, from: 1) else { return nil }
        offset += 7
        return Int(truncatingIfNeeded: body.integer(&offset))
    }

    private func integer(after key: UInt64, _ bytes: Int, in body: RawSpan) -> Int? {
        guard var offset = body.find(key, from: 1, before: body.byteCount) else { return nil }
        offset += bytes
        return Int(truncatingIfNeeded: body.integer(&offset))
    }
}
