internal import PresenceCore

// Writing has two steps. First the size is summed: an upper bound for the fixed parts, and the
// exact size of texts including their escapes. Then the bytes are written into memory of that
// size, without growing an array. Every write checks the bound, so that a wrong sum traps and
// never writes past the end.

/// Writes JSON into memory of a known size.
@safe
struct JSONWriter: ~Copyable {
    // SAFETY: `written` never passes `bytes.count`; see `room(for:)`.
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private(set) var written = 0

    /// A writer for this memory, which must outlive it.
    init(_ bytes: UnsafeMutableBufferPointer<UInt8>) {
        unsafe self.bytes = unsafe bytes
    }

    @inline(__always)
    private mutating func room(for count: Int) -> UnsafeMutablePointer<UInt8> {
        precondition(
            unsafe count >= 0 && count <= bytes.count - written, "size of JSON misjudged")
        guard let base = unsafe bytes.baseAddress else { preconditionFailure("no memory") }
        let place = unsafe base + written
        written += count
        return unsafe place
    }

    /// Appends bytes verbatim.
    @inline(__always)
    mutating func literal(_ text: StaticString) {
        let count = text.utf8CodeUnitCount
        unsafe room(for: count).update(from: text.utf8Start, count: count)
    }

    mutating func byte(_ byte: UInt8) {
        unsafe room(for: 1).pointee = byte
    }

    mutating func flag(_ value: Bool) {
        literal(value ? "true" : "false")
    }

    mutating func integer(_ value: Int) {
        if value < 0 { byte(UInt8(ascii: "-")) }
        unsigned(UInt64(value.magnitude))
    }

    mutating func integer(_ value: Int32) { integer(Int(value)) }

    mutating func time(_ value: Wall) { integer(Int(value.milliseconds)) }

    mutating func unsigned(_ value: UInt64) {
        var rest = value
        let count = Self.digits(of: value)
        var place = unsafe room(for: count) + count
        while rest >= 100 {
            let (quotient, pair) = rest.quotientAndRemainder(dividingBy: 100)
            unsafe place -= 2
            unsafe place.update(from: Self.pairs.utf8Start + Int(pair) * 2, count: 2)
            rest = quotient
        }
        if rest >= 10 {
            unsafe (place - 2).update(from: Self.pairs.utf8Start + Int(rest) * 2, count: 2)
        } else {
            unsafe (place - 1).pointee = UInt8(ascii: "0") + UInt8(rest)
        }
    }

    /// Quoted base32.
    mutating func base32(_ value: UInt64) {
        let place = unsafe room(for: Base32.characters + 2)
        unsafe place[0] = UInt8(ascii: "\"")
        var rest = value
        for index in stride(from: Base32.characters, to: 0, by: -1) {
            unsafe place[index] = Base32.alphabet.utf8Start[Int(rest & 31)]
            rest >>= 5
        }
        unsafe place[Base32.characters + 1] = UInt8(ascii: "\"")
    }

    /// A quoted string.
    ///
    /// `text` is UTF-8; everything except quotes, backslashes and control
    /// characters is written unchanged.
    mutating func string(_ text: Span<UInt8>) {
        byte(UInt8(ascii: "\""))
        let count = text.count
        let escaped = Self.escapedBytes(of: text)
        let place = unsafe room(for: escaped)
        if escaped == count {
            unsafe text.withUnsafeBufferPointer { source in
                guard let start = source.baseAddress else { return }
                unsafe place.update(from: start, count: count)
            }
        } else {
            unsafe Self.escape(text, to: place)
        }
        byte(UInt8(ascii: "\""))
    }

    /// The size of a text after escaping, without quotes.
    static func escapedBytes(of text: Span<UInt8>) -> Int {
        var extra = 0
        for index in text.indices {
            extra += escapeExtra(text[index])
        }
        return text.count + extra
    }

    @inline(__always)
    private static func escapeExtra(_ byte: UInt8) -> Int {
        if byte >= 0x20 { return byte == 0x22 || byte == 0x5C ? 1 : 0 }
        return shortEscape(byte) == nil ? 5 : 1
    }

    private static func shortEscape(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x22, 0x5C: byte
        case 0x08: UInt8(ascii: "b")
        case 0x09: UInt8(ascii: "t")
        case 0x0A: UInt8(ascii: "n")
        case 0x0C: UInt8(ascii: "f")
        case 0x0D: UInt8(ascii: "r")
        default: nil
        }
    }

    private static func escape(_ text: Span<UInt8>, to start: UnsafeMutablePointer<UInt8>) {
        var place = unsafe start
        func put(_ byte: UInt8) {
            unsafe place.pointee = byte
            unsafe place += 1
        }
        for index in text.indices {
            let byte = text[index]
            if escapeExtra(byte) == 0 {
                put(byte)
            } else if let short = shortEscape(byte) {
                put(UInt8(ascii: "\\"))
                put(short)
            } else {
                for digit in "\\u00".utf8 { put(digit) }
                put(UInt8(ascii: "0") + byte >> 4)
                unsafe put(Self.hex.utf8Start[Int(byte & 15)])
            }
        }
    }

    private static func digits(of value: UInt64) -> Int {
        var count = 1
        var bound: UInt64 = 10
        while value >= bound {
            count += 1
            let (next, overflow) = bound.multipliedReportingOverflow(by: 10)
            if overflow { break }
            bound = next
        }
        return count
    }

    private static let hex: StaticString = "0123456789abcdef"
    private static let pairs: StaticString = """
        0001020304050607080910111213141516171819\
        2021222324252627282930313233343536373839\
        4041424344454647484950515253545556575859\
        6061626364656667686970717273747576777879\
        8081828384858687888990919293949596979899
        """
}

extension [UInt8] {
    /// Lets `write` append up to `bytesMax` bytes.
    @inline(__always)
    mutating func append(bytesMax: Int, _ write: (inout JSONWriter) -> Void) {
        append(addingCapacity: bytesMax) { (output: inout OutputSpan<UInt8>) in
            unsafe output.withUnsafeMutableBufferPointer { memory, count in
                precondition(memory.count - count >= bytesMax)
                var writer = unsafe JSONWriter(
                    UnsafeMutableBufferPointer(rebasing: memory[count...]))
                write(&writer)
                count += writer.written
            }
        }
    }
}
