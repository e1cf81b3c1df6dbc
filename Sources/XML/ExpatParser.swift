// Expat is called here and in `ExpatHandlers` only.
//
// One parser reads all streams of a loop: it is reset for every stanza, because a parser of its own
// costs a connection 3 to 190 KB. So that prefixes of the stream's header resolve, a header with
// its declarations is read first, and then the stanza, as Expat would in one stream. The stanza
// itself is not changed.
//
// Expat keeps its memory for what comes next. After a stanza that is large, or refused, the parser
// is freed, and the next stanza has a new one.

import CExpat

/// A parser of Expat.
@safe final class ExpatParser {
    private var parser: OpaquePointer?
    private let hashSalt: UInt

    /// After a larger stanza, the parser is freed.
    private static let bytesKeptMax = 8_192
    /// Without a DTD nothing is amplified. Expat counts the character of `&gt;` besides its four
    /// bytes, so the factor is not 1.
    private static let amplificationMax: Float = 2
    private static let amplificationThreshold: UInt64 = 1_024

    init(hashSalt: UInt) {
        self.hashSalt = hashSalt
    }

    deinit { free() }

    private func free() {
        if let parser = unsafe parser { unsafe XML_ParserFree(parser) }
        unsafe parser = nil
    }

    /// Reads a header: its element, which has no content.
    func readHeader(
        _ bytes: RawSpan
    ) throws(XMLError) -> (XMLDocument, ExpatHandlers.Declarations) {
        var read = try read(bytes, after: RawSpan(), as: .header)
        guard read.tree.depth == 1, read.tree.nodes.count == 1,
            read.contentEnd == bytes.byteCount
        else { throw .notWellFormed }
        read.endHeader()
        return (XMLDocument(read.tree), read.declarations)
    }

    /// Reads one stanza after the header of `prologue`.
    func readStanza(
        _ bytes: RawSpan, after prologue: RawSpan
    ) throws(XMLError) -> XMLDocument {
        let read = try read(bytes, after: prologue, as: .stanza)
        // Elements and texts beside the first element were refused before.
        guard read.tree.depth == 0, !read.tree.nodes.isEmpty,
            read.contentEnd == prologue.byteCount + bytes.byteCount
        else { throw .notWellFormed }
        return XMLDocument(read.tree)
    }

    private func read(
        _ bytes: RawSpan, after prologue: RawSpan, as kind: ExpatHandlers.Phase
    ) throws(XMLError) -> ExpatHandlers {
        let parser = try unsafe prepare()
        var isDone = false
        defer { if !isDone || bytes.byteCount > Self.bytesKeptMax { free() } }
        var handlers = unsafe ExpatHandlers(of: parser, bytesExpected: bytes.byteCount)
        if prologue.byteCount > 0 { try unsafe parse(prologue, parser, &handlers) }
        handlers.phase = kind
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
        if let parser = unsafe parser, unsafe XML_ParserReset(parser, "UTF-8") == 0 { free() }
        if unsafe parser == nil {
            unsafe parser = unsafe XML_ParserCreateNS("UTF-8", CChar(ExpandedName.separator))
        }
        guard let parser = unsafe parser else { throw .outOfMemory }
        unsafe XML_SetHashSalt(parser, hashSalt)
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
