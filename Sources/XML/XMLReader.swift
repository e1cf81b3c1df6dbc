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
    private var known = KnownHeaders()

    /// A reader whose hash tables use this salt, which must be random and secret. Zero: Expat asks
    /// the system for one.
    public init(hashSalt: UInt) {
        headerParser = ExpatParser(hashSalt: hashSalt)
        stanzaParser = ExpatParser(hashSalt: hashSalt)
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
}
