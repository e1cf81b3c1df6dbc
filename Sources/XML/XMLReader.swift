/// The header of a stream.
public struct XMLHeader {
    /// Its element, without content.
    public let element: XMLElement
    /// The default namespace that it declares; empty: none.
    public let contentNamespace: [UInt8]
    /// What it declares for the stanzas of the stream.
    public let scope: StreamScope
}

/// Reads headers and stanzas, for all streams of a loop.
///
/// Whatever it is given, it throws or returns, and its memory does not grow with what it has read
/// before.
public final class XMLReader {
    private let headerParser: ExpatParser
    /// Its own, so that the header of one stream does not end the document that the stanzas of all
    /// are in.
    private let stanzaParser: ExpatParser
    /// Its own, too, as its documents begin with another header.
    private let messageParser: ExpatParser
    private var known = KnownHeaders()
    /// Declares nothing: a message is read as if it were a document of its own.
    private static let headerOfMessages = Array("<s>".utf8)

    /// A reader whose hash tables use this salt, which must be random, secret and not zero.
    public init(hashSalt: UInt128) {
        headerParser = ExpatParser(hashSalt: hashSalt)
        stanzaParser = ExpatParser(hashSalt: hashSalt)
        messageParser = ExpatParser(hashSalt: hashSalt)
    }

    /// Reads the header of a stream, with or without an XML declaration.
    public func readHeader(_ bytes: RawSpan) throws(XMLError) -> XMLHeader {
        if let header = known.header(of: bytes) { return header }
        let (document, declarations) = try headerParser.readHeader(bytes)
        let header = XMLHeader(
            element: XMLElement(document), contentNamespace: declarations.content,
            scope: try StreamScope(declarations.all))
        known.add(header, of: bytes)
        return header
    }

    /// Reads one stanza, which must end with the last byte.
    public func readStanza(
        _ bytes: RawSpan, in scope: StreamScope
    ) throws(XMLError) -> XMLElement {
        XMLElement(try stanzaParser.readStanza(bytes, after: scope.xml))
    }

    /// Reads a message of a WebSocket: one element, which declares its namespaces itself
    /// (RFC 7395). White space behind it is ignored.
    public func readMessage(_ bytes: RawSpan, bytesMax: Int) throws(XMLError) -> XMLElement {
        guard bytes.byteCount > 0 else { throw .badFormat }
        var finder = StanzaBoundaryFinder.behindHeader
        let start = try Self.declarationEnd(in: bytes)
        var end = start
        switch finder.next(in: bytes, from: &end, bytesMax: bytesMax) {
        case .stanza: break
        case .needMore: throw .notOneElement
        case .whiteSpace, .header, .streamEnd: throw .badFormat
        case .rejected(let error): throw error
        }
        let element = bytes.extracting(start..<end)
        if end < bytes.byteCount {
            let rest = finder.next(in: bytes, from: &end, bytesMax: bytesMax)
            guard rest == .whiteSpace, end == bytes.byteCount else { throw .notOneElement }
        }
        return XMLElement(try messageParser.readStanza(element, after: Self.headerOfMessages))
    }

    /// Whether a message begins with an XML declaration.
    public static func hasDeclaration(_ bytes: RawSpan) -> Bool {
        let text = beginning(of: bytes)
        return text.starts(with: "<?xml".utf8) && text.count > 5 && isWhiteSpace(text[5])
    }

    private static func beginning(of bytes: RawSpan) -> [UInt8] {
        unsafe bytes.withUnsafeBytes { unsafe Array($0.prefix(declarationBytesMax)) }
    }

    /// The place behind the XML declaration that a message may begin with, and white space.
    private static func declarationEnd(in bytes: RawSpan) throws(XMLError) -> Int {
        guard hasDeclaration(bytes) else { return 0 }
        let text = beginning(of: bytes)
        let last = text.indices.dropFirst(6).first { place in
            text[place] == UInt8(ascii: ">") && text[place - 1] == UInt8(ascii: "?")
        }
        guard let end = last else { throw .notWellFormed }
        let says = String(decoding: text[..<end], as: UTF8.self).lowercased()
        guard !says.contains("encoding") || says.contains("utf-8") else {
            throw .unsupportedEncoding
        }
        return text[(end + 1)...].firstIndex { !isWhiteSpace($0) } ?? text.count
    }

    private static let declarationBytesMax = 128

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }
}
