/// The namespaces that the header of a stream declares, in which its stanzas are read.
public struct StreamScope: Hashable, Sendable {
    /// A header with the declarations. Empty for those that nearly all streams have.
    private var header: [UInt8] = []

    /// That of a stream with `xmlns='jabber:client'` and the prefix `stream`.
    public static let standard = StreamScope()

    private static let standardHeader = Array(
        "<s xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>".utf8)
    private static let standardHeaderWithoutPrefix = Array("<s xmlns='jabber:client'>".utf8)
    private static let standardPrefix: StaticString = "stream:"
    private static let standardDeclarations: [(prefix: [UInt8], namespace: [UInt8])] = [
        (Array("stream".utf8), Array("http://etherx.jabber.org/streams".utf8)),
        ([], Array("jabber:client".utf8)),
    ]

    private init() {}

    init(_ declarations: [(prefix: [UInt8], namespace: [UInt8])]) {
        let isStandard =
            declarations.count == Self.standardDeclarations.count
            && Self.standardDeclarations.allSatisfy { expected in
                declarations.contains { $0 == expected }
            }
        guard !isStandard else { return }
        header.append(literal: "<s")
        for (prefix, namespace) in declarations {
            header.append(literal: prefix.isEmpty ? " xmlns" : " xmlns:")
            header += prefix
            header.append(literal: "='")
            header.appendXML(attributeValue: namespace)
            header.append(literal: "'")
        }
        header.append(literal: ">")
    }

    /// The header as XML, in which this stanza is read.
    ///
    /// Hardly any stanza has a name with the prefix `stream`. Without its declaration a presence
    /// takes a sixth less.
    func header(for stanza: RawSpan) -> [UInt8] {
        guard header.isEmpty else { return header }
        return stanza.contains(Self.standardPrefix)
            ? Self.standardHeader : Self.standardHeaderWithoutPrefix
    }
}

extension RawSpan {
    /// Whether a text that ends with a rare character is in the bytes.
    fileprivate func contains(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count > 0, byteCount >= count else { return false }
        let last = unsafe text.utf8Start[count - 1]
        for end in count - 1..<byteCount
        where unsafe unsafeLoad(fromByteOffset: end, as: UInt8.self) == last {
            let start = end - count + 1
            let isHere = (0..<count - 1).allSatisfy { offset in
                unsafe unsafeLoad(fromByteOffset: start + offset, as: UInt8.self)
                    == text.utf8Start[offset]
            }
            if isHere { return true }
        }
        return false
    }
}
