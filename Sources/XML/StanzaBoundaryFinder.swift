// Finds where the parts of a stream end, without reading what they are.
//
// It reads each byte once, in whatever pieces they arrive, and knows just enough of XML for that:
// tags, quoted values, CDATA sections. `XMLReader` reads each part afterwards, and rejects those
// that do not end where they end here. So a wrong guess is an error of the stream, and never a
// second opinion of where a stanza ends.
//
// What a single byte shows to be wrong is rejected at that byte, so that nothing is kept of it.

/// What a part of a stream is.
public enum StanzaBoundary: Hashable, Sendable {
    /// All bytes were read, and the part that has begun is not complete.
    case needMore
    /// White space between stanzas, which is a sign of life.
    case whiteSpace
    /// The XML declaration, if there is one, and the first tag of the stream.
    case header
    /// A whole element below the stream.
    case stanza
    /// The last tag of the stream. Nothing after it is read.
    case streamEnd
    /// Nothing after it can be read.
    case rejected(XMLError)
}

/// Finds the ends of a stream's header, its stanzas, and of the stream.
public struct StanzaBoundaryFinder: Sendable {
    /// Bytes of the part that has begun.
    public private(set) var bytesInPart: UInt32 = 0
    private var state = State.betweenParts
    /// Open elements; the stream is the first one.
    private var depth: UInt16 = 0
    /// Bytes that were read of a word of markup, or of a byte order mark.
    private var wordBytes: UInt8 = 0
    private var hasDeclaration = false
    private var error: XMLError?

    private enum State: UInt8 {
        case betweenParts, text
        /// In the byte order mark that a stream may begin with.
        case byteOrderMark
        /// After `<`, after `<!`, after `<?`.
        case markup, section, instruction
        case declaration, declarationEnd
        case startTag, singleQuoted, doubleQuoted, emptyTag, endTag
        /// In the name of an element below the stream, as far as it is that of a stream.
        case streamName
        /// A CDATA section; after one `]` of it; after two or more.
        case characterData, oneBracket, twoBrackets
        case ended

        /// The characters that mean something here, all of 0x20 to 0x3F, as a bit each. None: each
        /// byte has to be read.
        var contentEnds: UInt32 {
            switch self {
            case .text: Self.bit("<")
            case .singleQuoted: Self.bit("'") | Self.bit("<")
            case .doubleQuoted: Self.bit("\"") | Self.bit("<")
            case .startTag, .endTag:
                Self.bit("<") | Self.bit(">") | Self.bit("/") | Self.bit("'") | Self.bit("\"")
            default: 0
            }
        }

        private static func bit(_ character: Unicode.Scalar) -> UInt32 {
            1 << (character.value - 0x20)
        }
    }

    private static let sectionWord: StaticString = "[CDATA["
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let declarationWord: StaticString = "xml"
    private static let streamName: StaticString = "stream:stream"
    private static let depthMax = UInt16(XMLLimits.depthReadMax + 1)

    /// A finder at the beginning of a stream.
    public init() {}

    /// A finder behind the header of a stream: what follows are stanzas.
    public static var behindHeader: StanzaBoundaryFinder {
        var finder = StanzaBoundaryFinder()
        finder.depth = 1
        return finder
    }

    /// Whether a part has begun that is not complete.
    public var isInPart: Bool { bytesInPart > 0 }

    /// Reads up to the end of the next part, and advances `offset` past the bytes that it read.
    ///
    /// White space before the first part and between parts is a part of its own.
    public mutating func next(
        in chunk: RawSpan, from offset: inout Int, bytesMax: Int
    ) -> StanzaBoundary {
        precondition(offset >= 0 && offset <= chunk.byteCount)
        if let error { return .rejected(error) }
        if state == .ended { return .streamEnd }
        if state == .betweenParts, !isInPart, skipWhiteSpace(in: chunk, from: &offset) {
            return .whiteSpace
        }
        while offset < chunk.byteCount {
            skipContent(in: chunk, from: &offset, bytesMax: bytesMax)
            guard offset < chunk.byteCount else { break }
            let byte = unsafe chunk.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            offset += 1
            bytesInPart &+= 1
            do throws(XMLError) {
                guard Int(bytesInPart) <= bytesMax else { throw .limit(.bytes) }
                guard let end = try read(byte) else { continue }
                bytesInPart = 0
                return end
            } catch {
                self.error = error
                return .rejected(error)
            }
        }
        return .needMore
    }

    /// Skips what `read` would only pass by: most bytes of a stanza are names, values and texts.
    private mutating func skipContent(
        in chunk: RawSpan, from offset: inout Int, bytesMax: Int
    ) {
        let ends = state.contentEnds
        guard ends != 0 else { return }
        let start = offset
        let limit = min(chunk.byteCount, start + max(0, bytesMax - Int(bytesInPart)))
        // Within bounds that are checked before: half of the instructions for a byte.
        offset = unsafe chunk.withUnsafeBytes { bytes in
            var next = start
            while next < limit {
                // Below the bytes that may be wrong.
                let place = unsafe bytes[next] &- 0x20
                guard place < 0xA0, place >= 32 || ends &>> UInt32(place) & 1 == 0 else { break }
                next &+= 1
            }
            return next
        }
        bytesInPart &+= UInt32(truncatingIfNeeded: offset - start)
    }

    private func skipWhiteSpace(in chunk: RawSpan, from offset: inout Int) -> Bool {
        let start = offset
        while offset < chunk.byteCount,
            Self.isWhiteSpace(unsafe chunk.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
        {
            offset += 1
        }
        return offset > start
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// Reads one byte; what it completes.
    private mutating func read(_ byte: UInt8) throws(XMLError) -> StanzaBoundary? {
        try check(byte)
        switch state {
        case .text:
            if byte == UInt8(ascii: "<") { state = .markup }
        case .startTag: return try readStartTag(byte)
        case .streamName: return try readStreamName(byte)
        case .singleQuoted, .doubleQuoted: try readValue(byte)
        case .endTag: return try readEndTag(byte)
        case .emptyTag:
            guard byte == UInt8(ascii: ">") else { throw .notWellFormed }
            guard depth > 0 else { throw .badFormat }
            return endElement()
        case .betweenParts: try beginPart(byte)
        case .byteOrderMark: try readByteOrderMark(byte)
        case .markup: try readMarkup(byte)
        case .section: try readSection(byte)
        case .characterData, .oneBracket, .twoBrackets: readCharacterData(byte)
        case .instruction, .declaration, .declarationEnd: try readDeclaration(byte)
        case .ended: break
        }
        return nil
    }

    /// Rejects bytes that UTF-8 and XML never have.
    private func check(_ byte: UInt8) throws(XMLError) {
        switch byte {
        case 0x20...0xBF, 0xC2...0xF4, 0x09, 0x0A, 0x0D: return
        // The first bytes of UTF-16 and UTF-32.
        case 0x00, 0xFE, 0xFF: throw depth == 0 ? .unsupportedEncoding : .notWellFormed
        default: throw .notWellFormed
        }
    }

    private mutating func beginPart(_ byte: UInt8) throws(XMLError) {
        if byte == UInt8(ascii: "<") {
            state = .markup
        } else if hasDeclaration, depth == 0, Self.isWhiteSpace(byte) {
            // Between the declaration and the header, which are one part.
        } else if depth == 0, bytesInPart == 1, byte == Self.byteOrderMark[0] {
            wordBytes = 1
            state = .byteOrderMark
        } else {
            throw depth == 0 ? .notWellFormed : .badFormat
        }
    }

    /// That of UTF-8 says nothing that is not known, and is part of the header.
    private mutating func readByteOrderMark(_ byte: UInt8) throws(XMLError) {
        guard byte == Self.byteOrderMark[Int(wordBytes)] else { throw .notWellFormed }
        wordBytes += 1
        if wordBytes == Self.byteOrderMark.count { state = .betweenParts }
    }

    private mutating func readMarkup(_ byte: UInt8) throws(XMLError) {
        wordBytes = 0
        switch byte {
        case UInt8(ascii: "/"):
            guard depth > 0 else { throw .notWellFormed }
            state = .endTag
        case UInt8(ascii: "!"): state = .section
        case UInt8(ascii: "?"):
            guard depth == 0, !hasDeclaration else { throw .restricted }
            state = .instruction
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "_"), 0x80...:
            guard depth < Self.depthMax else { throw .limit(.depth) }
            guard depth == 1 else { return state = .startTag }
            _ = try readStreamName(byte)
        default: throw .notWellFormed
        }
    }

    /// A header where none is due would be an element that does not end.
    private mutating func readStreamName(_ byte: UInt8) throws(XMLError) -> StanzaBoundary? {
        state = .streamName
        if byte == Self.character(wordBytes, of: Self.streamName) {
            wordBytes += 1
            return nil
        }
        let isEnd = Self.isWhiteSpace(byte) || byte == UInt8(ascii: ">")
        guard !isEnd || wordBytes < Self.streamName.utf8CodeUnitCount else { throw .secondHeader }
        state = .startTag
        return try readStartTag(byte)
    }

    private mutating func readStartTag(_ byte: UInt8) throws(XMLError) -> StanzaBoundary? {
        switch byte {
        case UInt8(ascii: ">"):
            precondition(depth < Self.depthMax, "an element outside of the allowed depth")
            depth += 1
            state = depth == 1 ? .betweenParts : .text
            return depth == 1 ? .header : nil
        case UInt8(ascii: "/"): state = .emptyTag
        case UInt8(ascii: "'"): state = .singleQuoted
        case UInt8(ascii: "\""): state = .doubleQuoted
        case UInt8(ascii: "<"): throw .notWellFormed
        default: break
        }
        return nil
    }

    private mutating func readValue(_ byte: UInt8) throws(XMLError) {
        switch byte {
        case UInt8(ascii: "'"): if state == .singleQuoted { state = .startTag }
        case UInt8(ascii: "\""): if state == .doubleQuoted { state = .startTag }
        case UInt8(ascii: "<"): throw .notWellFormed
        default: break
        }
    }

    private mutating func readEndTag(_ byte: UInt8) throws(XMLError) -> StanzaBoundary? {
        switch byte {
        case UInt8(ascii: ">"):
            depth -= 1
            return endElement()
        case UInt8(ascii: "<"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "/"):
            throw .notWellFormed
        default: return nil
        }
    }

    /// An element has ended, and `depth` counts those around it.
    private mutating func endElement() -> StanzaBoundary? {
        precondition(depth < Self.depthMax, "an element outside of the allowed depth")
        switch depth {
        case 0:
            state = .ended
            return .streamEnd
        case 1:
            state = .betweenParts
            return .stanza
        default:
            state = .text
            return nil
        }
    }

    /// Between `<!` and the content of a CDATA section, the only such markup that is taken.
    private mutating func readSection(_ byte: UInt8) throws(XMLError) {
        guard depth > 1, byte == Self.character(wordBytes, of: Self.sectionWord) else {
            throw .restricted
        }
        wordBytes += 1
        if wordBytes == Self.sectionWord.utf8CodeUnitCount { state = .characterData }
    }

    private mutating func readCharacterData(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "]"): state = state == .characterData ? .oneBracket : .twoBrackets
        case UInt8(ascii: ">") where state == .twoBrackets: state = .text
        default: state = .characterData
        }
    }

    /// In the XML declaration, from `<?` on.
    private mutating func readDeclaration(_ byte: UInt8) throws(XMLError) {
        if state == .instruction {
            if wordBytes == Self.declarationWord.utf8CodeUnitCount {
                guard Self.isWhiteSpace(byte) else { throw .restricted }
                state = .declaration
                return
            }
            guard byte == Self.character(wordBytes, of: Self.declarationWord) else {
                throw .restricted
            }
            wordBytes += 1
        } else if byte == UInt8(ascii: "<") {
            throw .notWellFormed
        } else if byte == UInt8(ascii: ">"), state == .declarationEnd {
            hasDeclaration = true
            state = .betweenParts
        } else {
            state = byte == UInt8(ascii: "?") ? .declarationEnd : .declaration
        }
    }

    private static func character(_ index: UInt8, of word: StaticString) -> UInt8? {
        guard index < word.utf8CodeUnitCount else { return nil }
        return unsafe word.utf8Start[Int(index)]
    }
}
