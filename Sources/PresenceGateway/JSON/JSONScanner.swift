// Finds where JSON values begin and end, without parsing them into anything.
//
// Values that a client sent are copied verbatim into a request of ours. So each must be exactly one
// value by RFC 8259: if the scanner accepted more, it could take two values for one, and a client
// could add members that the route does not allow. The recipient checks what the value means.

/// Scans JSON in `bytes`, which are known to be UTF-8.
enum JSONScanner {
    /// Moves `at` past spaces.
    static func skipSpace(_ bytes: Span<UInt8>, _ at: inout Int) {
        while at < bytes.count {
            switch bytes[at] {
            case 0x20, 0x09, 0x0A, 0x0D: at += 1
            default: return
            }
        }
    }

    /// Moves `at` from the first byte of a value past its end.
    static func skipValue(
        _ bytes: Span<UInt8>, _ at: inout Int, depth: Int = 1
    ) throws(JSONError) {
        guard at < bytes.count else { throw .invalid }
        switch bytes[at] {
        case UInt8(ascii: "\""): try skipString(bytes, &at)
        case UInt8(ascii: "{"): try skipObject(bytes, &at, depth: depth)
        case UInt8(ascii: "["): try skipArray(bytes, &at, depth: depth)
        case UInt8(ascii: "t"): try skip("true", bytes, &at)
        case UInt8(ascii: "f"): try skip("false", bytes, &at)
        case UInt8(ascii: "n"): try skip("null", bytes, &at)
        default: try skipNumber(bytes, &at)
        }
    }

    /// Moves `at` past a string; true if it contains escapes.
    @discardableResult
    static func skipString(_ bytes: Span<UInt8>, _ at: inout Int) throws(JSONError) -> Bool {
        guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { throw .invalid }
        at += 1
        var hasEscapes = false
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""): return hasEscapes
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try skipEscape(bytes, &at)
            case 0..<0x20: throw .invalid
            default: continue
            }
        }
        throw .invalid
    }

    /// Moves `at` past what follows a backslash.
    private static func skipEscape(_ bytes: Span<UInt8>, _ at: inout Int) throws(JSONError) {
        guard at < bytes.count else { throw .invalid }
        let byte = bytes[at]
        at += 1
        switch byte {
        case UInt8(ascii: "u"):
            let unit = try hexadecimal(bytes, &at)
            guard unit & 0xF800 == 0xD800 else { return }
            // A lone surrogate is not valid text.
            guard unit < 0xDC00 else { throw .invalid }
            try skip("\\u", bytes, &at)
            guard try hexadecimal(bytes, &at) & 0xFC00 == 0xDC00 else { throw .invalid }
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        default: throw .invalid
        }
    }

    /// Reads four hexadecimal digits.
    static func hexadecimal(
        _ bytes: Span<UInt8>, _ at: inout Int
    ) throws(JSONError) -> UInt32 {
        guard bytes.count - at >= 4 else { throw .invalid }
        var unit: UInt32 = 0
        for place in at..<at + 4 {
            guard let digit = Character(UnicodeScalar(bytes[place])).hexDigitValue,
                bytes[place] < 0x80
            else { throw .invalid }
            unit = unit << 4 | UInt32(digit)
        }
        at += 4
        return unit
    }

    private static func skipObject(
        _ bytes: Span<UInt8>, _ at: inout Int, depth: Int
    ) throws(JSONError) {
        guard depth <= JSONObject.depthMax else { throw .tooDeep }
        at += 1
        skipSpace(bytes, &at)
        if try skipIf(UInt8(ascii: "}"), bytes, &at) { return }
        while true {
            try skipString(bytes, &at)
            try skipColon(bytes, &at)
            try skipValue(bytes, &at, depth: depth + 1)
            skipSpace(bytes, &at)
            if try skipIf(UInt8(ascii: "}"), bytes, &at) { return }
            try skip(",", bytes, &at)
            skipSpace(bytes, &at)
        }
    }

    private static func skipArray(
        _ bytes: Span<UInt8>, _ at: inout Int, depth: Int
    ) throws(JSONError) {
        guard depth <= JSONObject.depthMax else { throw .tooDeep }
        at += 1
        skipSpace(bytes, &at)
        if try skipIf(UInt8(ascii: "]"), bytes, &at) { return }
        while true {
            try skipValue(bytes, &at, depth: depth + 1)
            skipSpace(bytes, &at)
            if try skipIf(UInt8(ascii: "]"), bytes, &at) { return }
            try skip(",", bytes, &at)
            skipSpace(bytes, &at)
        }
    }

    /// Moves `at` past a colon and the spaces around it.
    static func skipColon(_ bytes: Span<UInt8>, _ at: inout Int) throws(JSONError) {
        skipSpace(bytes, &at)
        try skip(":", bytes, &at)
        skipSpace(bytes, &at)
    }

    private static func skipNumber(_ bytes: Span<UInt8>, _ at: inout Int) throws(JSONError) {
        if bytes[at] == UInt8(ascii: "-") { at += 1 }
        guard at < bytes.count else { throw .invalid }
        if bytes[at] == UInt8(ascii: "0") { at += 1 } else { try skipDigits(bytes, &at) }
        if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
            at += 1
            try skipDigits(bytes, &at)
        }
        if at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") {
            at += 1
            if at < bytes.count, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") {
                at += 1
            }
            try skipDigits(bytes, &at)
        }
    }

    private static func skipDigits(_ bytes: Span<UInt8>, _ at: inout Int) throws(JSONError) {
        let start = at
        while at < bytes.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[at] { at += 1 }
        guard at > start else { throw .invalid }
    }

    /// Skips `byte` if it comes next; whether it did.
    static func skipIf(
        _ byte: UInt8, _ bytes: Span<UInt8>, _ at: inout Int
    ) throws(JSONError) -> Bool {
        guard at < bytes.count else { throw .invalid }
        guard bytes[at] == byte else { return false }
        at += 1
        return true
    }

    static func skip(
        _ word: StaticString, _ bytes: Span<UInt8>, _ at: inout Int
    ) throws(JSONError) {
        let isThere = word.withUTF8Buffer { word in
            guard bytes.count - at >= word.count else { return false }
            for place in 0..<word.count where unsafe bytes[at + place] != word[place] {
                return false
            }
            return true
        }
        guard isThere else { throw .invalid }
        at += word.utf8CodeUnitCount
    }
}
