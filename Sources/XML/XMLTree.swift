// A header or a stanza as arrays: nodes in the order of the document, each with the end of its
// descendants; attributes; and all texts and names as ranges of one text.
//
// `ExpatParser` fills a tree, which then becomes a document that does not change: `XMLElement` is
// how it is read. A class whose properties change is checked for overlapping accesses while the
// program runs, which cost a stanza as much as to find its end; hence a structure, and constants.

/// A header or a stanza that is being read.
struct XMLTree {
    /// Bytes of a text of the tree.
    struct ByteRange {
        var start: UInt32 = 0
        var count: UInt32 = 0

        var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
    }

    /// An element or a text.
    struct Node {
        /// The name of the element, or the text.
        var bytes: ByteRange
        /// Behind the last descendant. Of an element that is open: the element around it.
        var end: UInt32
        /// The place of the first attribute.
        var firstAttribute: UInt32 = 0
        var attributeCount: UInt8 = 0
        /// `XMLTree.noNamespace`: none.
        var namespace: UInt8 = XMLTree.noNamespace
        var isText = false
        /// Of an element: its name or an attribute was more than is allowed, and is left out.
        var isIncomplete = false
    }

    struct Attribute {
        var name: ByteRange
        var value: ByteRange
        var namespace: UInt8
    }

    static let noNamespace = UInt8.max

    private(set) var nodes: [Node] = []
    private(set) var attributes: [Attribute] = []
    private(set) var namespaces: [ByteRange] = []
    private(set) var bytes: [UInt8] = []
    /// Whether an element is incomplete.
    private(set) var isIncomplete = false
    /// The number of open elements.
    private(set) var depth = 0
    /// The innermost of them.
    private var open: UInt32 = 0
    private var isInText = false
    /// Open elements that are left out, with what is in them.
    private var depthLeftOut = 0

    /// The tree of a document that has about this many bytes.
    init(bytesExpected: Int) {
        bytes.reserveCapacity(min(bytesExpected, 1_024) + 64)
        nodes.reserveCapacity(8)
        namespaces.reserveCapacity(2)
    }

    /// Begins an element; its attributes follow.
    mutating func begin(_ name: ExpandedName) throws(XMLError) {
        isInText = false
        guard depthLeftOut == 0 else { return depthLeftOut += 1 }
        guard depth < XMLLimits.depthMax, nodes.count < XMLLimits.nodesMax else {
            return try leaveOutRest(with: depth < XMLLimits.depthMax ? .nodes : .depth)
        }
        let number = UInt32(truncatingIfNeeded: nodes.count)
        var node = Node(bytes: ByteRange(), end: open)
        var excess: XMLError?
        do throws(XMLError) {
            node.namespace = try unsafe namespace(name)
            node.bytes = try unsafe append(name: name.local)
        } catch { excess = error }
        if let namespace = unsafe name.namespace, unsafe NamespaceName.isOfXML(namespace) {
            throw .namespace
        }
        node.firstAttribute = UInt32(truncatingIfNeeded: attributes.count)
        nodes.append(node)
        open = number
        depth += 1
        guard let excess else { return }
        // The outermost one says what a stanza is.
        guard depth > 1 else { throw excess }
        leaveOut()
    }

    /// Appends an attribute to the element that was just begun.
    ///
    /// Of the outermost one, values are as long as the stanza may be: its id is repeated, and an
    /// address says for whom it is. What else it has above the limits says nothing.
    mutating func append(
        _ name: ExpandedName, value: UnsafeRawBufferPointer
    ) throws(XMLError) {
        guard depthLeftOut == 0, let last = nodes.indices.last else { return }
        let isOutermost = depth == 1
        do throws(XMLError) {
            guard isOutermost || value.count <= XMLLimits.valueBytesMax else {
                throw .limit(.valueBytes)
            }
            let isKnown = unsafe isOutermost && name.isOfStanza
            guard isKnown || nodes[last].attributeCount < XMLLimits.attributesMax else {
                throw .limit(.attributes)
            }
            let attribute = try unsafe Attribute(
                name: append(name: name.local), value: append(bytes: value),
                namespace: namespace(name))
            attributes.append(attribute)
            nodes[last].attributeCount += 1
        } catch { if !isOutermost { leaveOut() } }
    }

    /// The element that was just begun declares more namespaces than are allowed.
    mutating func leaveOutDeclarations() {
        if depth > 1, depthLeftOut == 0 { leaveOut() }
    }

    /// Notes that something of the innermost element is left out.
    private mutating func leaveOut() {
        nodes[Int(open)].isIncomplete = true
        isIncomplete = true
    }

    /// Leaves out an element that has begun, and all others up to the end of the child of the
    /// stanza that they are in, of which nothing but its name remains.
    private mutating func leaveOutRest(with limit: XMLLimit) throws(XMLError) {
        guard depth > 1 else { throw .limit(limit) }
        depthLeftOut = 1
        while depth > 2 {
            open = nodes[Int(open)].end
            depth -= 1
            depthLeftOut += 1
        }
        let place = Int(open)
        let end = Int(nodes[place].firstAttribute) + Int(nodes[place].attributeCount)
        nodes.removeLast(nodes.count - place - 1)
        attributes.removeLast(attributes.count - end)
        leaveOut()
    }

    /// Appends text. Expat has several for one text: lines, references.
    mutating func append(text: UnsafeRawBufferPointer) throws(XMLError) {
        guard depthLeftOut == 0 else { return }
        guard isInText || nodes.count < XMLLimits.nodesMax else {
            try leaveOutRest(with: .nodes)
            // No element has begun.
            return depthLeftOut -= 1
        }
        let range = unsafe append(bytes: text)
        if isInText, let last = nodes.indices.last {
            nodes[last].bytes.count += range.count
            return
        }
        nodes.append(
            Node(bytes: range, end: UInt32(truncatingIfNeeded: nodes.count) + 1, isText: true))
        isInText = true
    }

    /// Ends the innermost element.
    mutating func end() {
        isInText = false
        guard depthLeftOut == 0 else { return depthLeftOut -= 1 }
        precondition(depth > 0, "an end of no element")
        let ended = Int(open)
        open = nodes[ended].end
        nodes[ended].end = UInt32(truncatingIfNeeded: nodes.count)
        depth -= 1
    }

    private mutating func append(name: UnsafeRawBufferPointer) throws(XMLError) -> ByteRange {
        guard name.count <= XMLLimits.nameBytesMax else { throw .limit(.nameBytes) }
        return unsafe append(bytes: name)
    }

    private mutating func append(bytes new: UnsafeRawBufferPointer) -> ByteRange {
        // A stanza has far fewer bytes, so places fit into 32 bits.
        precondition(bytes.count + new.count <= Int(UInt32.max))
        let start = UInt32(truncatingIfNeeded: bytes.count)
        unsafe bytes.append(contentsOf: new)
        return ByteRange(start: start, count: UInt32(truncatingIfNeeded: new.count))
    }

    /// The number of a namespace; a new one is appended.
    private mutating func namespace(_ name: ExpandedName) throws(XMLError) -> UInt8 {
        guard let text = unsafe name.namespace else { return Self.noNamespace }
        for (number, known) in namespaces.enumerated() where known.count == text.count {
            if unsafe bytes[known.range].elementsEqual(text) {
                return UInt8(truncatingIfNeeded: number)
            }
        }
        guard namespaces.count < XMLLimits.namespacesMax else { throw .limit(.namespaces) }
        guard text.count <= XMLLimits.namespaceBytesMax else { throw .limit(.nameBytes) }
        precondition(namespaces.count < Self.noNamespace, "a number that stands for none")
        namespaces.append(unsafe append(bytes: text))
        return UInt8(truncatingIfNeeded: namespaces.count - 1)
    }
}

/// A header or a stanza that was read.
final class XMLDocument: Sendable {
    let nodes: [XMLTree.Node]
    let attributes: [XMLTree.Attribute]
    let namespaces: [XMLTree.ByteRange]
    let bytes: [UInt8]
    let isIncomplete: Bool

    init(_ tree: consuming XMLTree) {
        precondition(!tree.nodes.isEmpty && tree.depth == 0, "a tree that is not complete")
        nodes = tree.nodes
        attributes = tree.attributes
        namespaces = tree.namespaces
        bytes = tree.bytes
        isIncomplete = tree.isIncomplete
    }
}

/// A name in memory of Expat, valid during its call.
@unsafe struct ExpandedName {
    /// Cannot be in a document, not even as a reference.
    static let separator: UInt8 = 0x0C

    let namespace: UnsafeRawBufferPointer?
    let local: UnsafeRawBufferPointer

    /// Whether it is that of an attribute which stanzas and streams have.
    var isOfStanza: Bool {
        guard unsafe namespace == nil else {
            return unsafe local.elementsEqual("lang".utf8)
        }
        return ["to", "from", "id", "type"].contains { unsafe local.elementsEqual($0.utf8) }
    }

    init(_ text: UnsafePointer<CChar>) {
        var count = 0
        var separation: Int?
        while unsafe text[count] != 0 {
            if unsafe text[count] == CChar(Self.separator) { separation = separation ?? count }
            count += 1
        }
        let start = separation.map { $0 + 1 } ?? 0
        unsafe namespace = unsafe separation.map {
            unsafe UnsafeRawBufferPointer(start: text, count: $0)
        }
        unsafe local = unsafe UnsafeRawBufferPointer(start: text + start, count: count - start)
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes of a string, without the zero at its end.
    init(cString text: UnsafePointer<CChar>) {
        var count = 0
        while unsafe text[count] != 0 { count += 1 }
        unsafe self.init(start: text, count: count)
    }
}
