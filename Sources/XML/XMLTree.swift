// A stanza as arrays that are reused for the next one: nodes in the order of the document, each
// with the end of its descendants; attributes; and all texts and names as ranges of one text.
//
// `ExpatParser` fills it; `XMLElement` is how it is read. Only one stanza is there at a time.

/// The tree of the stanza that was read last.
final class XMLTree {
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
        /// Behind the last descendant.
        var end: UInt32
        /// The place of the first attribute.
        var firstAttribute: UInt32 = 0
        var attributeCount: UInt8 = 0
        /// `XMLTree.noNamespace`: none.
        var namespace: UInt8 = XMLTree.noNamespace
        var isText = false
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
    /// How often the content was replaced: an element of a former stanza is not read any more.
    private(set) var generation: UInt64 = 0

    /// The open elements.
    private var open: [UInt32] = []
    private var isInText = false

    /// Beyond this capacity, memory is not kept for the next stanza.
    private static let bytesKeptMax = 16_384

    // MARK: - Building

    func removeAll() {
        generation &+= 1
        isInText = false
        open.removeAll(keepingCapacity: true)
        if bytes.capacity > Self.bytesKeptMax {
            nodes = []
            attributes = []
            bytes = []
        } else {
            nodes.removeAll(keepingCapacity: true)
            attributes.removeAll(keepingCapacity: true)
            bytes.removeAll(keepingCapacity: true)
        }
        namespaces.removeAll(keepingCapacity: true)
    }

    var depth: Int { open.count }

    /// Bytes of memory in use.
    var bytesAllocated: Int {
        bytes.capacity + nodes.capacity * MemoryLayout<Node>.stride
            + attributes.capacity * MemoryLayout<Attribute>.stride
    }

    /// Begins an element; its attributes follow.
    func begin(_ name: ExpandedName) throws(XMLError) {
        isInText = false
        guard open.count < XMLLimits.depthMax else { throw .limit(.depth) }
        let number = UInt32(truncatingIfNeeded: nodes.count)
        var node = try unsafe Node(bytes: append(name: name.local), end: number)
        node.namespace = try unsafe namespace(name)
        node.firstAttribute = UInt32(truncatingIfNeeded: attributes.count)
        try append(node)
        open.append(number)
    }

    /// Appends an attribute to the element that was just begun.
    func append(_ name: ExpandedName, value: UnsafeRawBufferPointer) throws(XMLError) {
        guard value.count <= XMLLimits.valueBytesMax else { throw .limit(.valueBytes) }
        guard let last = nodes.indices.last,
            nodes[last].attributeCount < XMLLimits.attributesMax
        else { throw .limit(.attributes) }
        let attribute = try unsafe Attribute(
            name: append(name: name.local), value: append(bytes: value),
            namespace: namespace(name))
        attributes.append(attribute)
        nodes[last].attributeCount += 1
    }

    /// Appends text. Expat has several for one text: lines, references.
    func append(text: UnsafeRawBufferPointer) throws(XMLError) {
        let range = unsafe append(bytes: text)
        if isInText, let last = nodes.indices.last {
            nodes[last].bytes.count += range.count
            return
        }
        try append(
            Node(bytes: range, end: UInt32(truncatingIfNeeded: nodes.count) + 1, isText: true))
        isInText = true
    }

    func end() {
        isInText = false
        guard let number = open.popLast() else { return }
        nodes[Int(number)].end = UInt32(truncatingIfNeeded: nodes.count)
    }

    private func append(_ node: Node) throws(XMLError) {
        guard nodes.count < XMLLimits.nodesMax else { throw .limit(.nodes) }
        nodes.append(node)
    }

    private func append(name: UnsafeRawBufferPointer) throws(XMLError) -> ByteRange {
        guard name.count <= XMLLimits.nameBytesMax else { throw .limit(.nameBytes) }
        return unsafe append(bytes: name)
    }

    private func append(bytes new: UnsafeRawBufferPointer) -> ByteRange {
        let start = UInt32(truncatingIfNeeded: bytes.count)
        unsafe bytes.append(contentsOf: new)
        return ByteRange(start: start, count: UInt32(truncatingIfNeeded: new.count))
    }

    /// The number of a namespace; a new one is appended.
    private func namespace(_ name: ExpandedName) throws(XMLError) -> UInt8 {
        guard let text = unsafe name.namespace else { return Self.noNamespace }
        for (number, known) in namespaces.enumerated() where known.count == text.count {
            if unsafe bytes[known.range].elementsEqual(text) {
                return UInt8(truncatingIfNeeded: number)
            }
        }
        guard namespaces.count < XMLLimits.namespacesMax else { throw .limit(.namespaces) }
        guard text.count <= XMLLimits.namespaceBytesMax else { throw .limit(.nameBytes) }
        namespaces.append(unsafe append(bytes: text))
        return UInt8(truncatingIfNeeded: namespaces.count - 1)
    }
}

/// A name as Expat has it, valid during its call.
@unsafe struct ExpandedName {
    /// Cannot be in a document, not even as a reference.
    static let separator: UInt8 = 0x0C

    let namespace: UnsafeRawBufferPointer?
    let local: UnsafeRawBufferPointer

    init(_ text: UnsafePointer<CChar>) {
        let bytes = unsafe UnsafeRawBufferPointer(cString: text)
        if let end = unsafe bytes.firstIndex(of: Self.separator) {
            unsafe namespace = unsafe UnsafeRawBufferPointer(rebasing: bytes[..<end])
            unsafe local = unsafe UnsafeRawBufferPointer(rebasing: bytes[(end + 1)...])
        } else {
            unsafe namespace = nil
            unsafe local = unsafe bytes
        }
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
