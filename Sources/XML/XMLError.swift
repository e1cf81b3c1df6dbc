/// Why XML of a stream was rejected. Nothing after it can be read.
public enum XMLError: Error, Hashable, Sendable {
    /// Not well-formed XML 1.0, or not with namespaces: also a prefix that is not declared, an
    /// attribute that appears more than once, a character that XML does not have.
    case notWellFormed
    /// XML that streams must not have: a doctype, a comment, a processing instruction, or an entity
    /// other than the five of XML (RFC 6120, 11.1).
    case restricted
    /// Another encoding than UTF-8.
    case unsupportedEncoding
    /// Text between stanzas, or a stream that ends in the tag that begins it.
    case badFormat
    /// A message that is not exactly one complete element.
    case notOneElement
    /// The header of a stream within a stream.
    case secondHeader
    /// An element in the namespace of the prefix `xml`.
    case namespace
    /// More than is allowed.
    case limit(XMLLimit)
    /// Memory could not be allocated.
    case outOfMemory
}

/// What a stanza had too much of.
public enum XMLLimit: Hashable, Sendable {
    /// Bytes of the stanza.
    case bytes
    /// Elements in each other.
    case depth
    /// Elements and texts.
    case nodes
    /// Attributes and declarations of namespaces of one element.
    case attributes
    /// Different namespaces.
    case namespaces
    /// Bytes of the name of an element or an attribute, or of a namespace.
    case nameBytes
    /// Bytes of the value of an attribute.
    case valueBytes
    /// Bytes of all namespaces that the header of a stream declares, as it is read again.
    case headerBytes
}

/// The limits of every stanza. That of its bytes depends on the phase of the stream, and is an
/// argument. What is above the limits is left out: attributes and names, and the content of a child
/// of the stanza that has too much in it. Of the outermost element, names are rejected.
public enum XMLLimits {
    /// Elements in each other; the stanza is the first one.
    public static let depthMax = 32
    /// Elements in each other above which a stanza is not read.
    public static let depthReadMax = 1_024
    /// Elements and texts of a stanza.
    public static let nodesMax = 1_024
    /// Attributes of an element. As many declarations of namespaces are allowed besides.
    public static let attributesMax = 32
    /// Different namespaces of a stanza.
    public static let namespacesMax = 16
    /// Bytes of a name without its prefix.
    public static let nameBytesMax = 128
    /// Bytes of the name of a namespace.
    public static let namespaceBytesMax = 256
    /// Bytes of the value of an attribute.
    public static let valueBytesMax = 4_096
    /// Bytes of a header with the namespaces that a stream has declared, written by us. The header
    /// is read before each stanza if streams with different ones alternate.
    public static let headerBytesMax = 1_024
}
