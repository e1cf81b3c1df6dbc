// Expat is called here and in `ExpatHandlers` only.
//
// A parser reads all streams of a loop, because a parser of its own costs a connection 3 to 190 KB.
// So that prefixes of the stream's header resolve, a header with its declarations is read first,
// and then the stanza, as Expat would in one stream. The stanza itself is not changed.
//
// The next stanza with the same header is read in the same document, also if it is another
// stream's: to reset the parser and to read the header again takes as long as a short stanza. No
// stanza shows in the next: of each, the parser has seen the end of its element as the last byte,
// else the document ends there. What the parser keeps of a document (the names that occurred) ends
// with it, too, and a document has few bytes.
//
// Expat keeps its memory for what comes next. After a stanza that is large, or rejected, the parser
// is freed, and the next stanza has a new one.

import CExpat

/// A parser of Expat.
@safe final class ExpatParser {
    private var parser: OpaquePointer?
    private var document = Document.none
    private let hashSalt: UInt128

    /// What the parser has read since it was reset.
    private enum Document {
        /// Nothing that can be continued.
        case none
        /// A header, and stanzas that are at their end.
        case open(header: [UInt8], byteCount: Int)
    }

    /// After a larger stanza, the parser is freed.
    private static let bytesKeptMax = 8_192
    /// A document that has more bytes is not continued.
    private static let documentBytesMax = 16_384
    /// Without a DTD nothing is amplified. Expat counts the character of `&gt;` besides its four
    /// bytes, so the factor is not 1.
    private static let amplificationMax: Float = 2
    private static let amplificationThreshold: UInt64 = 1_024

    init(hashSalt: UInt128) {
        self.hashSalt = hashSalt
    }

    deinit { free() }

    private func free() {
        if let parser = unsafe parser { unsafe XML_ParserFree(parser) }
        unsafe parser = nil
        document = .none
    }

    /// Reads a header: its element, which has no content.
    func readHeader(
        _ bytes: RawSpan
    ) throws(XMLError) -> (XMLDocument, ExpatHandlers.Declarations) {
        let parser = try unsafe prepare()
        defer { freeIfLarge(bytes) }
        var handlers = try unsafe read(bytes, as: .header, parser)
        guard handlers.tree.depth == 1, handlers.tree.nodes.count == 1,
            handlers.contentEnd == bytes.byteCount
        else { throw .notWellFormed }
        handlers.endHeader()
        return (XMLDocument(handlers.tree), handlers.declarations)
    }

    /// Reads one stanza in a document with this header, which the service has written.
    func readStanza(_ bytes: RawSpan, after header: [UInt8]) throws(XMLError) -> XMLDocument {
        let (parser, start) = try unsafe open(header)
        defer { freeIfLarge(bytes) }
        // Until the stanza is at its end, the document cannot be continued.
        document = .none
        let handlers = try unsafe read(bytes, as: .stanza, parser)
        precondition(start >= header.count, "a stanza before its header")
        let end = start + bytes.byteCount
        // Elements and texts beside the first element were rejected before.
        guard handlers.tree.depth == 0, !handlers.tree.nodes.isEmpty, handlers.contentEnd == end
        else { throw .notWellFormed }
        document = .open(header: header, byteCount: end)
        return XMLDocument(handlers.tree)
    }

    private func freeIfLarge(_ bytes: RawSpan) {
        if bytes.byteCount > Self.bytesKeptMax { free() }
    }

    /// A parser that has read this header, and the place in its document.
    private func open(_ header: [UInt8]) throws(XMLError) -> (OpaquePointer, Int) {
        if case .open(header, let byteCount) = document, byteCount <= Self.documentBytesMax,
            let parser = unsafe parser
        {
            return unsafe (parser, byteCount)
        }
        let parser = try unsafe prepare()
        _ = try unsafe read(header.span.bytes, as: .prologue, parser)
        return unsafe (parser, header.count)
    }

    /// Reads what follows in the document. The parser is still there unless this throws.
    private func read(
        _ bytes: RawSpan, as phase: ExpatHandlers.Phase, _ parser: OpaquePointer
    ) throws(XMLError) -> ExpatHandlers {
        var isDone = false
        defer { if !isDone { free() } }
        var handlers = unsafe ExpatHandlers(
            of: parser, phase, bytesExpected: phase == .prologue ? 0 : bytes.byteCount)
        try unsafe parse(bytes, parser, &handlers)
        isDone = true
        return handlers
    }

    private func parse(
        _ bytes: RawSpan, _ parser: OpaquePointer, _ handlers: inout ExpatHandlers
    ) throws(XMLError) {
        guard let count = CInt(exactly: bytes.byteCount) else { throw .limit(.bytes) }
        let status = unsafe withUnsafeMutablePointer(to: &handlers) { owner in
            unsafe XML_SetUserData(parser, owner)
            defer { unsafe XML_SetUserData(parser, nil) }
            return unsafe bytes.withUnsafeBytes { bytes in
                unsafe XML_Parse(
                    parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), count, 0)
            }
        }
        if let error = handlers.error { throw error }
        guard status == XML_STATUS_OK else {
            throw XMLError(unsafe XML_GetErrorCode(parser))
        }
    }

    /// A parser without content. A reset removes the handlers and these settings.
    private func prepare() throws(XMLError) -> OpaquePointer {
        document = .none
        if let parser = unsafe parser, unsafe XML_ParserReset(parser, "UTF-8") == 0 { free() }
        if unsafe parser == nil {
            unsafe parser = unsafe XML_ParserCreateNS("UTF-8", CChar(ExpandedName.separator))
        }
        guard let parser = unsafe parser else { throw .outOfMemory }
        unsafe cexpat_set_hash_salt(
            parser, UInt64(truncatingIfNeeded: hashSalt), UInt64(hashSalt >> 64))
        unsafe XML_SetBillionLaughsAttackProtectionMaximumAmplification(
            parser, Self.amplificationMax)
        unsafe XML_SetBillionLaughsAttackProtectionActivationThreshold(
            parser, Self.amplificationThreshold)
        unsafe ExpatHandlers.install(in: parser)
        return unsafe parser
    }
}

extension XMLError {
    fileprivate init(_ code: XML_Error) {
        self =
            switch code {
            case XML_ERROR_NO_MEMORY: .outOfMemory
            case XML_ERROR_UNDEFINED_ENTITY, XML_ERROR_RECURSIVE_ENTITY_REF,
                XML_ERROR_ASYNC_ENTITY, XML_ERROR_BINARY_ENTITY_REF,
                XML_ERROR_ATTRIBUTE_EXTERNAL_ENTITY_REF, XML_ERROR_EXTERNAL_ENTITY_HANDLING,
                XML_ERROR_ENTITY_DECLARED_IN_PE, XML_ERROR_AMPLIFICATION_LIMIT_BREACH,
                XML_ERROR_MISPLACED_XML_PI:
                .restricted
            case XML_ERROR_UNKNOWN_ENCODING, XML_ERROR_INCORRECT_ENCODING: .unsupportedEncoding
            default: .notWellFormed
            }
    }
}
