// How the tree of a stanza is read. An element is a place in the reader's tree and not a copy: it
// must not be used once the reader has read another stanza, and traps then.

/// An element of the stanza that was read last.
public struct XMLElement {
    private let tree: XMLTree
    private let number: Int
    private let generation: UInt64

    init(_ tree: XMLTree, _ number: Int = 0) {
        precondition(number < tree.nodes.count, "an element of an empty tree")
        self.tree = tree
        self.number = number
        generation = tree.generation
    }

    /// Bytes of memory of the tree that it is in.
    var bytesAllocatedOfTree: Int { tree.bytesAllocated }

    private var node: XMLTree.Node {
        precondition(generation == tree.generation, "an element of a former stanza")
        return tree.nodes[number]
    }

    /// The name without its prefix.
    public var name: ArraySlice<UInt8> { tree.bytes[node.bytes.range] }

    /// The name of the namespace; empty: none.
    public var namespace: ArraySlice<UInt8> { tree.namespaceName(node.namespace) }

    /// Whether it has this name in this namespace.
    public func isNamed(_ name: StaticString, in namespace: StaticString) -> Bool {
        self.name.isEqual(to: name) && self.namespace.isEqual(to: namespace)
    }

    /// All attributes, in the order of the document. Declarations of namespaces are not among them.
    public var attributes: some Sequence<XMLAttribute> {
        let node = node
        let first = Int(node.firstAttribute)
        return (first..<first + Int(node.attributeCount)).lazy.map { [tree] place in
            let attribute = tree.attributes[place]
            return XMLAttribute(
                name: tree.bytes[attribute.name.range],
                namespace: tree.namespaceName(attribute.namespace),
                value: tree.bytes[attribute.value.range])
        }
    }

    /// The value of an attribute.
    public func attribute(
        _ name: StaticString, in namespace: StaticString = ""
    ) -> ArraySlice<UInt8>? {
        attributes.first { $0.name.isEqual(to: name) && $0.namespace.isEqual(to: namespace) }?.value
    }

    /// Elements and texts directly in it, in the order of the document.
    public var children: some Sequence<XMLNode> {
        let node = node
        return sequence(state: number + 1) { [tree, generation] place -> XMLNode? in
            precondition(generation == tree.generation, "an element of a former stanza")
            guard place < Int(node.end) else { return nil }
            let child = tree.nodes[place]
            defer { place = Int(child.end) }
            return child.isText
                ? .text(tree.bytes[child.bytes.range]) : .element(XMLElement(tree, place))
        }
    }

    /// Elements directly in it.
    public var elements: some Sequence<XMLElement> {
        children.lazy.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The first element directly in it that has this name.
    public func first(_ name: StaticString, in namespace: StaticString) -> XMLElement? {
        elements.first { $0.isNamed(name, in: namespace) }
    }

    /// The text directly in it.
    public var text: [UInt8] {
        var all: [UInt8] = []
        for case .text(let text) in children { all += text }
        return all
    }

    /// Whether there is nothing in it.
    public var isEmpty: Bool { node.end == number + 1 }
}

/// An attribute of an element.
public struct XMLAttribute: Hashable, Sendable {
    /// The name without its prefix.
    public let name: ArraySlice<UInt8>
    /// The name of the namespace; empty: none.
    public let namespace: ArraySlice<UInt8>
    /// The value, with references resolved.
    public let value: ArraySlice<UInt8>
}

/// What an element has in it.
public enum XMLNode {
    /// An element.
    case element(XMLElement)
    /// Text, with references resolved.
    case text(ArraySlice<UInt8>)
}

extension XMLTree {
    fileprivate func namespaceName(_ number: UInt8) -> ArraySlice<UInt8> {
        number == Self.noNamespace ? [] : bytes[namespaces[Int(number)].range]
    }
}

extension Collection<UInt8> {
    /// Whether these are the bytes of `text`.
    ///
    /// Inlinable: every name of every element is compared, and a generic comparison that is not
    /// specialized took a fifth of a login.
    @inlinable
    public func isEqual(to text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        var place = startIndex
        for offset in 0..<text.utf8CodeUnitCount {
            guard unsafe self[place] == text.utf8Start[offset] else { return false }
            formIndex(after: &place)
        }
        return true
    }
}
