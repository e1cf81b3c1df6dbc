// A stream of XML: however it arrives, the same stanzas come out; Expat, which reads it in one
// piece, ends them at the same places; and what was read and is written is read as the same.
//
// The first two bytes of the input say whether a usual header comes first, where the limit lies,
// and how the rest is cut up.

import CExpat
import XML

/// What came out of a splitter, in a form that can be kept.
private enum Outcome: Equatable {
    case whiteSpace
    case header([UInt8])
    case stanza([UInt8])
    case streamEnd
    case rejected(XMLError)
}

/// One connection with its splitter.
private struct Reader: PieceReader {
    var splitter = StanzaSplitter()
    var outcomes: [Outcome] = []
    /// Where each outcome ends in the chunk.
    var ends: [Int] = []
    let bytesMax: Int
    private(set) var isOver = false

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    mutating func feed(_ chunk: ArraySlice<UInt8>, stops: Bool) {
        let bytes = Array(chunk)
        var span = bytes.span.bytes
        var offset = 0
        while !isOver {
            let part = splitter.next(in: span, from: &offset, bytesMax: bytesMax)
            require(splitter.bytesBuffered <= bytesMax || stops, "more is kept than allowed")
            if part == .needMore { return }
            note(part, span)
            // White space in several pieces is one outcome.
            if ends.count == outcomes.count { ends.removeLast() }
            ends.append(offset)
            if stops, !isOver {
                splitter.keep(span, from: &offset)
                span = RawSpan()
                offset = 0
            }
        }
    }

    private mutating func note(_ part: StreamPart, _ chunk: RawSpan) {
        switch part {
        case .needMore: break
        case .whiteSpace: if outcomes.last != .whiteSpace { outcomes.append(.whiteSpace) }
        case .header(let place): outcomes.append(.header(bytes(place, chunk)))
        case .stanza(let place): outcomes.append(.stanza(bytes(place, chunk)))
        case .streamEnd: end(.streamEnd)
        case .rejected(let error): end(.rejected(error))
        }
    }

    private mutating func end(_ outcome: Outcome) {
        outcomes.append(outcome)
        isOver = true
    }

    private func bytes(_ place: StreamPartBytes, _ chunk: RawSpan) -> [UInt8] {
        splitter.withBytes(of: place, in: chunk) { span in span.withUnsafeBytes { Array($0) } }
    }
}

/// Expat, reading the stream as one document.
private final class Oracle {
    var depth = 0
    var stanzas = 0
    /// Behind the last stanza or header.
    var end = 0
    private let parser: OpaquePointer

    init() {
        guard let parser = XML_ParserCreateNS("UTF-8", CChar(0x0C)) else {
            fatalError("Expat has no memory")
        }
        self.parser = parser
        cexpat_set_hash_salt(parser, 1, 1)
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser, { owner, _, _ in Oracle.at(owner).begin() },
            { owner, _ in Oracle.at(owner).finish() })
    }

    deinit { XML_ParserFree(parser) }

    private static func at(_ owner: UnsafeMutableRawPointer?) -> Oracle {
        guard let owner else { fatalError("a handler without its parser's user data") }
        return Unmanaged<Oracle>.fromOpaque(owner).takeUnretainedValue()
    }

    private func begin() {
        depth += 1
        if depth == 1 { end = place }
    }

    private func finish() {
        depth -= 1
        if depth == 1 {
            stanzas += 1
            end = place
        }
    }

    private var place: Int {
        Int(cexpat_position_after_token(parser))
    }

    func feed(_ bytes: ArraySlice<UInt8>) -> Bool {
        Array(bytes).withUnsafeBytes {
            XML_Parse(
                parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), CInt($0.count), 0)
        } == XML_STATUS_OK
    }
}

/// A tree in a form that can be kept.
private struct Tree: Equatable {
    enum Child: Equatable {
        case text([UInt8])
        indirect case element(Tree)
    }

    let name: [UInt8]
    let namespace: [UInt8]
    let attributes: [[[UInt8]]]
    let children: [Child]

    init(_ element: XMLElement) {
        name = Array(element.name)
        namespace = Array(element.namespace)
        attributes = element.attributes.map {
            [Array($0.namespace), Array($0.name), Array($0.value)]
        }
        children = element.children.map { child in
            switch child {
            case .text(let text): .text(Array(text))
            case .element(let element): .element(Tree(element))
            }
        }
    }
}

// SAFETY: libFuzzer runs one input at a time, on one thread.
nonisolated(unsafe) private let reader = XMLReader(hashSalt: 1)

private func checkRoundTrip(_ stanza: XMLElement) {
    let tree = Tree(stanza)
    var written: [UInt8] = []
    // What others may reject is not written.
    guard written.appendXML(stanza, in: "jabber:client") else { return }
    require(String(validating: written, as: UTF8.self) != nil, "what is written is not UTF-8")
    do throws(XMLError) {
        let again = try reader.readStanza(written.span.bytes, in: .standard)
        // Each namespace is declared where it is used, which may be more than the stanza did.
        require(
            again.isOfIncompleteStanza || Tree(again) == tree,
            "what is written is read as another tree")
    } catch {
        if case .limit = error { return }
        require(false, "what is written is rejected: \(error)")
    }
}

/// Reads a stanza as the service does, after all that was read before, and compares what comes of
/// it with what a reader says that has read nothing.
private func readAsFirst(
    _ bytes: RawSpan, in scope: StreamScope
) throws(XMLError) -> XMLElement {
    let fresh = XMLReader(hashSalt: 1)
    do throws(XMLError) {
        let stanza = try reader.readStanza(bytes, in: scope)
        let first = try? fresh.readStanza(bytes, in: scope)
        require(first.map(Tree.init) == Tree(stanza), "a stanza before has changed the next")
        return stanza
    } catch {
        do throws(XMLError) {
            _ = try fresh.readStanza(bytes, in: scope)
            require(false, "a stanza is rejected for one before it")
        } catch let other {
            require(other == error, "a stanza is rejected for another reason than alone")
        }
        throw error
    }
}

/// Reads the parts as the service does, and compares the places with Expat's.
private func checkReading(_ bytes: [UInt8], _ whole: Reader) {
    // An XML declaration must be the first thing of a document, and not of a stream.
    let start = bytes.firstIndex { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D && $0 != 0x09 } ?? 0
    let oracle = Oracle()
    var fed = start
    var stanzas = 0
    var scope = StreamScope.standard
    for (outcome, end) in zip(whole.outcomes, whole.ends) where end > start {
        let isTaken = oracle.feed(bytes[fed..<end])
        fed = end
        do throws(XMLError) {
            switch outcome {
            case .header(let part): scope = try reader.readHeader(part.span.bytes).scope
            case .stanza(let part):
                let stanza = try readAsFirst(part.span.bytes, in: scope)
                stanzas += 1
                checkRoundTrip(stanza)
            case .whiteSpace:
                require(isTaken, "Expat rejects white space")
                continue
            case .streamEnd, .rejected: return
            }
        } catch {
            // Expat accepts any version in the declaration of a header.
            if case .header = outcome { return }
            let isEqual = !isTaken || oracle.depth != 1 || oracle.end != end - start
            require(error != .notWellFormed || isEqual, "Expat takes what is rejected")
            return
        }
        require(isTaken, "Expat rejects what is taken")
        require(oracle.depth == 1 && oracle.stanzas == stanzas, "Expat sees other stanzas")
        require(oracle.end == end - start, "Expat ends a stanza elsewhere")
    }
}

private let header = Array(
    "<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>".utf8)

/// Cuts one input up in several ways.
func fuzzXML(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let hasHeader = input.pick([true, false])
    let bytesMax = input.pick([10_000, 10_000, 64, 262_144])
    let cuts = UInt64(input.byte()) &+ 1
    let bytes = (hasHeader ? header : []) + input.remainder()
    let whole = checkCuts(bytes, seed: cuts) { Reader(bytesMax: bytesMax) }
    checkReading(bytes, whole)
}
