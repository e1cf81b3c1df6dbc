import CExpat

/// What Expat reports of a document, as it reads it: the tree that comes of it, or the first error.
///
/// The handlers reach it by the pointer that Expat has for its owner.
@safe struct ExpatHandlers {
    private(set) var tree: XMLTree
    /// The declarations of namespaces of the content's first element, as attributes.
    private(set) var declarations = Declarations()
    /// What is being read.
    private let phase: Phase
    /// The first error of a handler, after which Expat is stopped.
    private(set) var error: XMLError?
    /// The place behind the first element, in bytes of the document; -1: it is not at its end.
    private(set) var contentEnd = -1
    /// Declarations since the last element began.
    private var declarationCount = 0
    private let parser: OpaquePointer

    enum Phase {
        case prologue, header, stanza
    }

    /// The namespaces that a header declares.
    struct Declarations {
        var content: [UInt8] = []
        var all: [(prefix: [UInt8], namespace: [UInt8])] = []
    }

    init(of parser: OpaquePointer, _ phase: Phase, bytesExpected: Int) {
        unsafe self.parser = unsafe parser
        self.phase = phase
        tree = XMLTree(bytesExpected: bytesExpected)
    }

    /// Ends the element of a header, which is not at its end in the document.
    mutating func endHeader() { tree.end() }

    // MARK: - Handlers

    static func install(in parser: OpaquePointer) {
        unsafe XML_SetElementHandler(
            parser,
            { owner, name, attributes in
                unsafe ExpatHandlers.at(owner)?.pointee.begin(name, attributes)
            },
            { owner, _ in unsafe ExpatHandlers.at(owner)?.pointee.end() })
        unsafe XML_SetCharacterDataHandler(parser) { owner, text, count in
            let bytes = unsafe UnsafeRawBufferPointer(start: text, count: Int(count))
            unsafe ExpatHandlers.at(owner)?.pointee.append(text: bytes)
        }
        unsafe XML_SetStartNamespaceDeclHandler(parser) { owner, prefix, namespace in
            unsafe ExpatHandlers.at(owner)?.pointee.declare(prefix, namespace)
        }
        unsafe XML_SetXmlDeclHandler(parser) { owner, version, encoding, _ in
            unsafe ExpatHandlers.at(owner)?.pointee.declareDocument(version, encoding)
        }
        unsafe XML_SetCommentHandler(parser) { owner, _ in
            unsafe ExpatHandlers.at(owner)?.pointee.stop(.restricted)
        }
        unsafe XML_SetProcessingInstructionHandler(parser) { owner, _, _ in
            unsafe ExpatHandlers.at(owner)?.pointee.stop(.restricted)
        }
        unsafe XML_SetStartDoctypeDeclHandler(parser) { owner, _, _, _, _ in
            unsafe ExpatHandlers.at(owner)?.pointee.stop(.restricted)
        }
    }

    /// What a handler is called for. Nil once the parser has stopped: Expat may call a handler or
    /// two after that.
    private static func at(
        _ owner: UnsafeMutableRawPointer?
    ) -> UnsafeMutablePointer<ExpatHandlers>? {
        guard let handlers = unsafe owner?.assumingMemoryBound(to: ExpatHandlers.self) else {
            return nil
        }
        return unsafe handlers.pointee.error == nil ? handlers : nil
    }

    private mutating func stop(_ reason: XMLError) {
        error = reason
        unsafe XML_StopParser(parser, XML_Bool(XML_FALSE))
    }

    private mutating func begin(
        _ name: UnsafePointer<CChar>?,
        _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        guard phase != .prologue, let name = unsafe name else { return }
        do throws(XMLError) {
            // Another element beside the first one.
            guard tree.depth > 0 || contentEnd < 0 else { throw .notWellFormed }
            try unsafe tree.begin(ExpandedName(name))
            if declarationCount > XMLLimits.attributesMax { tree.leaveOutDeclarations() }
            declarationCount = 0
            var next = unsafe attributes
            while let place = unsafe next, let name = unsafe place[0],
                let value = unsafe place[1]
            {
                try unsafe tree.append(
                    ExpandedName(name), value: UnsafeRawBufferPointer(cString: value))
                unsafe next = unsafe place + 2
            }
        } catch { stop(error) }
        if phase == .header, contentEnd < 0 { contentEnd = positionAfterToken }
    }

    private mutating func end() {
        guard phase != .prologue else { return }
        // A header has no end, and a stanza does not end the stream.
        if phase == .header { return stop(.badFormat) }
        guard tree.depth > 0 else { return stop(.notWellFormed) }
        tree.end()
        if tree.depth == 0 { contentEnd = positionAfterToken }
    }

    private mutating func append(text: UnsafeRawBufferPointer) {
        guard phase != .prologue else { return }
        do throws(XMLError) {
            guard tree.depth > 0 else { throw .badFormat }
            try unsafe tree.append(text: text)
        } catch { stop(error) }
    }

    private mutating func declare(
        _ prefix: UnsafePointer<CChar>?, _ namespace: UnsafePointer<CChar>?
    ) {
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

    private mutating func declareDocument(
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
        unsafe Int(cexpat_position_after_token(parser))
    }
}
