// An element that was read is written again from its tree, and no byte of the input is copied: two
// readers that disagree about the same bytes are how stanzas are smuggled.
//
// What other readers may reject is not written: the stream of a client ends whose reader rejects
// something. These are elements of which a part is missing, and names of namespaces that not every
// reader accepts.
//
// Prefixes are not kept. An element declares its namespace as the default one where that differs
// from what is around it; an attribute in a namespace has a prefix that is declared beside it.

extension [UInt8] {
    /// Appends an element with everything in it, where `namespace` is the default namespace.
    ///
    /// Appends nothing and returns false if that would be more than `bytesMax`, or if it has what
    /// others may reject.
    @discardableResult
    public mutating func appendXML(
        _ element: XMLElement, in namespace: StaticString, bytesMax: Int = .max
    ) -> Bool {
        let start = count
        var outer: [UInt8] = []
        outer.append(literal: namespace)
        let limit = bytesMax > Int.max - start ? Int.max : start + bytesMax
        if appendElement(element, in: outer[...], limit) { return true }
        removeLast(count - start)
        return false
    }

    /// Appends an element as `appendXML(_:in:bytesMax:)` does, or nothing if it has what others may
    /// reject. Returns false if it is too long.
    @discardableResult
    public mutating func appendXMLIfWhole(
        _ element: XMLElement, in namespace: StaticString, bytesMax: Int
    ) -> Bool {
        appendXML(element, in: namespace, bytesMax: bytesMax) || !element.isWhole
    }

    /// The depth is that of a stanza, which is limited.
    private mutating func appendElement(
        _ element: XMLElement, in outer: ArraySlice<UInt8>, _ limit: Int
    ) -> Bool {
        let name = element.name
        let namespace = element.namespace
        guard !element.isIncomplete else { return false }
        append(UInt8(ascii: "<"))
        append(contentsOf: name)
        if namespace != outer {
            guard NamespaceName.isValid(namespace) else { return false }
            appendXML(attribute: "xmlns", namespace)
        }
        var prefixes = 0
        for attribute in element.attributes {
            guard NamespaceName.isValid(attribute.namespace) else { return false }
            append(attribute, &prefixes)
        }
        guard count <= limit else { return false }
        guard !element.isEmpty else {
            append(literal: "/>")
            return count <= limit
        }
        append(UInt8(ascii: ">"))
        for child in element.children {
            switch child {
            case .text(let text): appendXML(text: text)
            case .element(let child):
                guard appendElement(child, in: namespace, limit) else { return false }
            }
            guard count <= limit else { return false }
        }
        append(literal: "</")
        append(contentsOf: name)
        append(UInt8(ascii: ">"))
        return count <= limit
    }

    private mutating func append(_ attribute: XMLAttribute, _ prefixes: inout Int) {
        append(UInt8(ascii: " "))
        if attribute.namespace.isEqual(to: "http://www.w3.org/XML/1998/namespace") {
            append(literal: "xml:")
        } else if !attribute.namespace.isEmpty {
            // Two attributes of one namespace have two prefixes for it.
            prefixes += 1
            append(literal: "xmlns:a")
            append(contentsOf: String(prefixes).utf8)
            append(literal: "='")
            appendXML(attributeValue: attribute.namespace)
            append(literal: "' a")
            append(contentsOf: String(prefixes).utf8)
            append(UInt8(ascii: ":"))
        }
        append(contentsOf: attribute.name)
        append(literal: "='")
        appendXML(attributeValue: attribute.value)
        append(UInt8(ascii: "'"))
    }
}

extension XMLElement {
    /// Whether nothing of it is missing, and others read it.
    fileprivate var isWhole: Bool {
        !isIncomplete && (namespace.isEmpty || NamespaceName.isValid(namespace))
            && attributes.allSatisfy { NamespaceName.isValid($0.namespace) }
            && elements.allSatisfy { $0.isWhole }
    }
}
