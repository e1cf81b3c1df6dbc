/// An address of XMPP in its three parts (RFC 7622), the domain in small letters.
public struct JID: Hashable, Sendable {
    /// Before `@`, as it was written; nil: none.
    public var localpart: [UInt8]?
    /// The domain, in small letters and without a dot at its end.
    public var domain: [UInt8]
    /// Behind `/`; nil: none.
    public var resource: [UInt8]?

    private static let partBytesMax = 1_023

    /// The parts of an address; nil if one is empty or too long, or if the domain has characters
    /// that none has. Local part and resource are not checked further.
    public init?(_ text: some Collection<UInt8>) {
        let text = Array(text)
        let slash = text.firstIndex(of: UInt8(ascii: "/"))
        resource = slash.map { Array(text[($0 + 1)...]) }
        let bare = text[..<(slash ?? text.endIndex)]
        let at = bare.firstIndex(of: UInt8(ascii: "@"))
        localpart = at.map { Array(bare[..<$0]) }
        domain = Self.normalized(domain: bare[(at.map { $0 + 1 } ?? bare.startIndex)...])
        let sizes = [localpart?.count, domain.count, resource?.count]
        guard sizes.allSatisfy({ $0.map { (1...Self.partBytesMax).contains($0) } ?? true }),
            domain.allSatisfy(Self.isDomain),
            // No label is empty.
            !domain.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .contains(where: \.isEmpty)
        else { return nil }
    }

    /// A domain in the form in which two are compared.
    public static func normalized(domain: some Collection<UInt8>) -> [UInt8] {
        var lowered = domain.map { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        if lowered.last == UInt8(ascii: ".") { lowered.removeLast() }
        return lowered
    }

    /// Names in ASCII or UTF-8, and literals of IPv4 and, in brackets, IPv6.
    private static func isDomain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["),
            UInt8(ascii: "]"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}

extension [UInt8] {
    /// Appends the bare JID of an account. It has no characters that XML would escape.
    public mutating func appendJID(of account: some Collection<UInt8>, at domain: [UInt8]) {
        appendLocalpart(of: account)
        append(UInt8(ascii: "@"))
        append(contentsOf: domain)
    }

    /// Appends the full JID of a device as the value of an attribute, without quotes.
    public mutating func appendJID(
        of account: some Collection<UInt8>, at domain: [UInt8],
        device: (some Collection<UInt8>)?
    ) {
        appendJID(of: account, at: domain)
        guard let device else { return }
        append(UInt8(ascii: "/"))
        appendResource(of: device)
    }
}
