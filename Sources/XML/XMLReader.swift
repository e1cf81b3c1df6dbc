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

    /// A reader whose hash tables use this salt, which must be random and secret. Zero: Expat asks
    /// the system for one.
    public init(hashSalt: UInt) {
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
        var end = 0
        switch finder.next(in: bytes, from: &end, bytesMax: bytesMax) {
        case .stanza: break
        case .needMore: throw .notOneElement
        case .whiteSpace, .header, .streamEnd: throw .badFormat
        case .rejected(let error): throw error
        }
        let element = bytes.extracting(..<end)
        if end < bytes.byteCount {
            let rest = finder.next(in: bytes, from: &end, bytesMax: bytesMax)
            guard rest == .whiteSpace, end == bytes.byteCount else { throw .notOneElement }
        }
        return XMLElement(try messageParser.readStanza(element, after: Self.headerOfMessages))
    }
}
