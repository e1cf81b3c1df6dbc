@testable import XML

/// What a splitter returns, in a form that can be kept.
enum Part: Equatable {
    case whiteSpace
    case header(String)
    case stanza(String)
    case streamEnd
    case rejected(XMLError)
}

/// The parts of a stream that arrives in these pieces. White space that arrives in several pieces
/// is one part.
func parts(_ pieces: [[UInt8]], bytesMax: Int = 10_000, pausing: Bool = false) -> [Part] {
    var splitter = StanzaSplitter()
    var parts: [Part] = []
    for piece in pieces + [[]] {
        var span = piece.span.bytes
        var offset = 0
        reading: while true {
            let part = splitter.next(in: span, from: &offset, bytesMax: bytesMax)
            switch part {
            case .needMore: break reading
            case .whiteSpace: if parts.last != .whiteSpace { parts.append(.whiteSpace) }
            case .header(let bytes): parts.append(.header(text(bytes, splitter, span)))
            case .stanza(let bytes): parts.append(.stanza(text(bytes, splitter, span)))
            case .streamEnd:
                parts.append(.streamEnd)
                return parts
            case .rejected(let error):
                parts.append(.rejected(error))
                return parts
            }
            if pausing {
                splitter.keep(span, from: &offset)
                span = RawSpan()
                offset = 0
            }
        }
    }
    return parts
}

private func text(
    _ bytes: StreamPartBytes, _ splitter: StanzaSplitter, _ chunk: RawSpan
) -> String {
    splitter.withBytes(of: bytes, in: chunk) { span in
        span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

func parts(_ text: String, bytesMax: Int = 10_000) -> [Part] {
    parts([Array(text.utf8)], bytesMax: bytesMax)
}

let header = "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>"

extension XMLReader {
    func stanza(
        _ text: String, in scope: StreamScope = .standard
    ) throws(XMLError) -> XMLElement {
        let bytes = Array(text.utf8)
        return try readStanza(bytes.span.bytes, in: scope)
    }

    func header(_ text: String) throws(XMLError) -> XMLHeader {
        let bytes = Array(text.utf8)
        return try readHeader(bytes.span.bytes)
    }
}

extension XMLElement {
    /// Written again, in the namespace of clients.
    var written: String {
        var bytes: [UInt8] = []
        bytes.appendXML(self, in: "jabber:client")
        return String(decoding: bytes, as: UTF8.self)
    }

    /// In a form that can be kept and compared.
    var tree: Tree {
        Tree(
            name: Array(name), namespace: Array(namespace),
            attributes: attributes.map {
                [Array($0.namespace), Array($0.name), Array($0.value)]
            },
            children: children.map { child in
                switch child {
                case .text(let text): .text(Array(text))
                case .element(let element): .element(element.tree)
                }
            })
    }
}

struct Tree: Equatable {
    enum Child: Equatable {
        case text([UInt8])
        indirect case element(Tree)
    }

    var name: [UInt8]
    var namespace: [UInt8]
    var attributes: [[[UInt8]]]
    var children: [Child]
}
