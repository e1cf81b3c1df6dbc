// The only place where Expat is called.
//
// One parser reads all streams of a loop: it is reset for every stanza, because a parser of its own
// costs a connection 3 to 190 KB. So that prefixes of the stream's header resolve, a header with
// its declarations is read first, and then the stanza, as Expat would in one stream. The stanza
// itself is not changed.
//
// Expat keeps its memory for what comes next. After a stanza that is large, or refused, the parser
// is freed, and the next stanza has a new one.

import CExpat

/// A parser of Expat that fills a tree.
@safe final class ExpatParser {
    let tree = XMLTree()
    /// The declarations of namespaces of the content's first element, as attributes.
    private(set) var declarations = Declarations()

    private var parser: OpaquePointer?
    private let hashSalt: UInt
    private var phase = Phase.prologue
    /// The first error that is ours; after it, Expat is told to stop.
    private var error: XMLError?
    /// Declarations since the last element began.
    private var declarationCount = 0
    /// The place behind the first element, in bytes of the document.
    private var contentEnd = -1

    private enum Phase {
        case prologue, header, stanza
    }

    /// The namespaces that a header declares.
    struct Declarations {
        var content: [UInt8] = []
        var all: [(prefix: [UInt8], namespace: [UInt8])] = []
    }

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

    // MARK: - Reading

    /// Reads a header: the tree has its first element, which is not at its end.
    func readHeader(_ bytes: RawSpan) throws(XMLError) {
        try read(bytes, after: RawSpan(), as: .header)
        guard tree.depth == 1, tree.nodes.count == 1, contentEnd == bytes.byteCount else {
            throw .notWellFormed
        }
        tree.end()
    }

    /// Reads one stanza after the header of `prologue`.
    func readStanza(_ bytes: RawSpan, after prologue: RawSpan) throws(XMLError) {
        try read(bytes, after: prologue, as: .stanza)
        // Elements and texts beside the first element were refused before.
        guard tree.depth == 0, !tree.nodes.isEmpty,
            contentEnd == prologue.byteCount + bytes.byteCount
        else { throw .notWellFormed }
    }

    private func read(
        _ bytes: RawSpan, after prologue: RawSpan, as kind: Phase
    ) throws(XMLError) {
        let parser = try unsafe prepare()
        var isDone = false
        defer { if !isDone || bytes.byteCount > Self.bytesKeptMax { free() } }
        if prologue.byteCount > 0 {
            phase = .prologue
            try unsafe parse(prologue, parser)
        }
        phase = kind
        try unsafe parse(bytes, parser)
        isDone = true
    }

    private func parse(_ bytes: RawSpan, _ parser: OpaquePointer) throws(XMLError) {
        guard let count = CInt(exactly: bytes.byteCount) else { throw .limit(.bytes) }
        let status = unsafe bytes.withUnsafeBytes { bytes in
            unsafe XML_Parse(
                parser, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), count, 0)
        }
        if let error { throw error }
        guard status == XML_STATUS_OK else {
            throw XMLError(unsafe XML_GetErrorCode(parser))
        }
    }

    /// A parser without content. A reset removes the handlers and these settings.
    private func prepare() throws(XMLError) -> OpaquePointer {
        tree.removeAll()
        declarations = Declarations()
        error = nil
        contentEnd = -1
        declarationCount = 0
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
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        unsafe setHandlers(parser)
        return unsafe parser
    }

    // MARK: - Handlers

    private func setHandlers(_ parser: OpaquePointer) {
        unsafe XML_SetElementHandler(
            parser,
            { owner, name, attributes in
                unsafe ExpatParser.at(owner)?.begin(name, attributes)
            },
            { owner, _ in unsafe ExpatParser.at(owner)?.end() })
        unsafe XML_SetCharacterDataHandler(parser) { owner, text, count in
            let bytes = unsafe UnsafeRawBufferPointer(start: text, count: Int(count))
            unsafe ExpatParser.at(owner)?.append(text: bytes)
        }
        unsafe XML_SetStartNamespaceDeclHandler(parser) { owner, prefix, namespace in
            unsafe ExpatParser.at(owner)?.declare(prefix, namespace)
        }
        unsafe XML_SetXmlDeclHandler(parser) { owner, version, encoding, _ in
            unsafe ExpatParser.at(owner)?.declareDocument(version, encoding)
        }
        unsafe XML_SetCommentHandler(parser) { owner, _ in
            unsafe ExpatParser.at(owner)?.stop(.restricted)
        }
        unsafe XML_SetProcessingInstructionHandler(parser) { owner, _, _ in
            unsafe ExpatParser.at(owner)?.stop(.restricted)
        }
        unsafe XML_SetStartDoctypeDeclHandler(parser) { owner, _, _, _, _ in
            unsafe ExpatParser.at(owner)?.stop(.restricted)
        }
    }

    /// The parser that a handler is called for. Nil once it has stopped: Expat may call a handler
    /// or two after that.
    private static func at(_ owner: UnsafeMutableRawPointer?) -> ExpatParser? {
        guard let owner = unsafe owner else { return nil }
        let parser = unsafe Unmanaged<ExpatParser>.fromOpaque(owner).takeUnretainedValue()
        return parser.error == nil ? parser : nil
    }

    private func stop(_ reason: XMLError) {
        error = reason
        if let parser = unsafe parser { unsafe XML_StopParser(parser, XML_Bool(XML_FALSE)) }
    }

    private func attempt(_ build: () throws(XMLError) -> Void) {
        do throws(XMLError) { try build() } catch { stop(error) }
    }

    private func begin(
        _ name: UnsafePointer<CChar>?,
        _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        guard phase != .prologue, let name = unsafe name else { return }
        attempt { () throws(XMLError) in
            // Another element beside the first one.
            guard tree.depth > 0 || contentEnd < 0 else { throw .notWellFormed }
            guard declarationCount <= XMLLimits.attributesMax else { throw .limit(.attributes) }
            declarationCount = 0
            try unsafe tree.begin(ExpandedName(name))
            var next = unsafe attributes
            while let place = unsafe next, let name = unsafe place[0],
                let value = unsafe place[1]
            {
                try unsafe tree.append(
                    ExpandedName(name), value: UnsafeRawBufferPointer(cString: value))
                unsafe next = unsafe place + 2
            }
        }
        if phase == .header, contentEnd < 0 { contentEnd = positionAfterToken }
    }

    private func end() {
        guard phase != .prologue else { return }
        // A header has no end, and a stanza does not end the stream.
        if phase == .header { return stop(.badFormat) }
        guard tree.depth > 0 else { return stop(.notWellFormed) }
        tree.end()
        if tree.depth == 0 { contentEnd = positionAfterToken }
    }

    private func append(text: UnsafeRawBufferPointer) {
        guard phase != .prologue else { return }
        attempt { () throws(XMLError) in
            guard tree.depth > 0 else { throw .badFormat }
            try unsafe tree.append(text: text)
        }
    }

    private func declare(_ prefix: UnsafePointer<CChar>?, _ namespace: UnsafePointer<CChar>?) {
        guard phase != .prologue else { return }
        declarationCount += 1
        guard phase == .header, tree.depth == 0 else { return }
        let prefix = unsafe prefix.map { unsafe Array(UnsafeRawBufferPointer(cString: $0)) } ?? []
        let name = unsafe namespace.map { unsafe Array(UnsafeRawBufferPointer(cString: $0)) } ?? []
        guard prefix.count <= XMLLimits.nameBytesMax, name.count <= XMLLimits.namespaceBytesMax
        else { return stop(.limit(.nameBytes)) }
        guard declarations.all.count < XMLLimits.namespacesMax else {
            return stop(.limit(.namespaces))
        }
        if prefix.isEmpty { declarations.content = name }
        declarations.all.append((prefix, name))
    }

    private func declareDocument(
        _ version: UnsafePointer<CChar>?, _ encoding: UnsafePointer<CChar>?
    ) {
        if let encoding = unsafe encoding {
            let name = unsafe UnsafeRawBufferPointer(cString: encoding)
            // Its letters may be of either case.
            guard unsafe name.map({ $0 | 0x20 }).elementsEqual("utf-8".utf8) else {
                return stop(.unsupportedEncoding)
            }
        }
        guard let version = unsafe version,
            unsafe UnsafeRawBufferPointer(cString: version).elementsEqual("1.0".utf8)
        else { return stop(.notWellFormed) }
    }

    /// The place behind what a handler is called for, in bytes of the document.
    private var positionAfterToken: Int {
        guard let parser = unsafe parser else { return -1 }
        return unsafe Int(XML_GetCurrentByteIndex(parser))
            + Int(XML_GetCurrentByteCount(parser))
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
