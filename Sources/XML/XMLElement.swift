// How a document is read. An element is a place in a document, which lives as long as an element of
// it does.

/// An element of a header or a stanza.
public struct XMLElement: Sendable {
    let document: XMLDocument
    private let number: Int

    init(_ document: XMLDocument, _ number: Int = 0) {
        precondition(!document.nodes[number].isText, "a text as an element")
        self.document = document
        self.number = number
    }

    /// Whether anything of its stanza was more than is allowed, and was left out: attributes of an
    /// element, its name, or that of its namespace, or elements in each other. Of the stanza's own
    /// element, attributes that no stanza has may be missing.
    public var isOfIncompleteStanza: Bool { document.isIncomplete }

    /// The same of this element alone.
    var isIncomplete: Bool { node.isIncomplete }

    /// The number of elements, texts and attributes of its stanza.
    public var partCountOfStanza: Int { document.nodes.count + document.attributes.count }

    private var node: XMLTree.Node { document.nodes[number] }

    /// The name without its prefix.
    public var name: ArraySlice<UInt8> { document.bytes[node.bytes.range] }

    /// The name of the namespace; empty: none.
    public var namespace: ArraySlice<UInt8> { document.namespaceName(node.namespace) }

    /// Whether it has this name in this namespace.
    public func isNamed(_ name: StaticString, in namespace: StaticString) -> Bool {
        let node = node
        return document.isEqual(node.bytes, to: name)
            && document.isNamespace(node.namespace, equalTo: namespace)
    }

    /// All attributes, in the order of the document. Declarations of namespaces are not among them.
    public var attributes: some Sequence<XMLAttribute> {
        attributePlaces.lazy.map { [document] place in
            let attribute = document.attributes[place]
            return XMLAttribute(
                name: document.bytes[attribute.name.range],
                namespace: document.namespaceName(attribute.namespace),
                value: document.bytes[attribute.value.range])
        }
    }

    private var attributePlaces: Range<Int> {
        let node = node
        let first = Int(node.firstAttribute)
        return first..<first + Int(node.attributeCount)
    }

    /// The value of an attribute.
    public func attribute(
        _ name: StaticString, in namespace: StaticString = ""
    ) -> ArraySlice<UInt8>? {
        for place in attributePlaces {
            let attribute = document.attributes[place]
            if document.isEqual(attribute.name, to: name),
                document.isNamespace(attribute.namespace, equalTo: namespace)
            {
                return document.bytes[attribute.value.range]
            }
        }
        return nil
    }

    /// Elements and texts directly in it, in the order of the document.
    public var children: Children {
        Children(document: document, place: number + 1, end: Int(node.end))
    }

    /// What is directly in an element.
    public struct Children: Sequence, IteratorProtocol {
        fileprivate let document: XMLDocument
        fileprivate var place: Int
        fileprivate let end: Int

        /// The next element or text.
        public mutating func next() -> XMLNode? {
            guard place < end else { return nil }
            let child = document.nodes[place]
            defer { place = Int(child.end) }
            return child.isText
                ? .text(document.bytes[child.bytes.range]) : .element(XMLElement(document, place))
        }
    }

    /// Elements directly in it.
    public var elements: Elements { Elements(children: children) }

    /// The elements directly in an element.
    public struct Elements: Sequence, IteratorProtocol {
        fileprivate var children: Children

        /// The next element.
        public mutating func next() -> XMLElement? {
            while let child = children.next() {
                if case .element(let element) = child { return element }
            }
            return nil
        }
    }

    /// The first element directly in it that has this name.
    public func first(_ name: StaticString, in namespace: StaticString) -> XMLElement? {
        for case .element(let element) in children where element.isNamed(name, in: namespace) {
            return element
        }
        return nil
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

extension XMLDocument {
    fileprivate func namespaceName(_ number: UInt8) -> ArraySlice<UInt8> {
        number == XMLTree.noNamespace ? [] : bytes[namespaces[Int(number)].range]
    }

    fileprivate func isNamespace(_ number: UInt8, equalTo text: StaticString) -> Bool {
        number == XMLTree.noNamespace
            ? text.utf8CodeUnitCount == 0 : isEqual(namespaces[Int(number)], to: text)
    }

    fileprivate func isEqual(_ range: XMLTree.ByteRange, to text: StaticString) -> Bool {
        guard Int(range.count) == text.utf8CodeUnitCount else { return false }
        for offset in 0..<text.utf8CodeUnitCount {
            guard unsafe bytes[Int(range.start) + offset] == text.utf8Start[offset] else {
                return false
            }
        }
        return true
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
