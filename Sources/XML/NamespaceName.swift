// Names of namespaces that every reader accepts.
//
// What a client sends is written again for others, and their readers are stricter than Expat is
// here: one that splits names at a space, `}` or `|` rejects a namespace with it, and all reject
// the namespace of `xml` as that of an element (Namespaces in XML 1.0, section 3). A client whose
// reader rejects something loses its stream. So elements with such names are not written. They are
// read, since some clients have them in every presence; only an element in the namespace of `xml`
// is rejected where it is read, as XML that is wrong.

/// Which names of namespaces are written.
enum NamespaceName {
    /// Whether a name consists of characters of URIs (RFC 3986). Brackets and `%` are not among
    /// them here: no namespace of XMPP has them, and only some places in a URI may.
    static func isValid(_ name: ArraySlice<UInt8>) -> Bool {
        name.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "/"),
                UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "@"), UInt8(ascii: "!"),
                UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
                UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","),
                UInt8(ascii: ";"), UInt8(ascii: "="):
                true
            default: false
            }
        }
    }

    /// Whether it is that of the prefix `xml`, which only attributes may have.
    static func isOfXML(_ name: UnsafeRawBufferPointer) -> Bool {
        unsafe name.count == xml.utf8CodeUnitCount
            && name.elementsEqual(
                UnsafeBufferPointer(start: xml.utf8Start, count: xml.utf8CodeUnitCount))
    }

    private static let xml: StaticString = "http://www.w3.org/XML/1998/namespace"
}
