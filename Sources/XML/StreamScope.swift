/// The namespaces that the header of a stream declares, in which its stanzas are read.
public struct StreamScope: Hashable, Sendable {
    /// A header with the declarations. Empty for those that nearly all streams have.
    private var header: [UInt8] = []

    /// That of a stream with `xmlns='jabber:client'` and the prefix `stream`.
    public static let standard = StreamScope()

    private static let standardHeader = Array(
        "<s xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>".utf8)
    private static let standardDeclarations: [(prefix: [UInt8], namespace: [UInt8])] = [
        (Array("stream".utf8), Array("http://etherx.jabber.org/streams".utf8)),
        ([], Array("jabber:client".utf8)),
    ]

    private init() {}

    init(_ declarations: [(prefix: [UInt8], namespace: [UInt8])]) throws(XMLError) {
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
        guard header.count <= XMLLimits.headerBytesMax else { throw .limit(.headerBytes) }
    }

    /// The header as XML, after which stanzas are read.
    var xml: [UInt8] { header.isEmpty ? Self.standardHeader : header }
}
