/// Why a text is not an address with a port.
public enum AddressError: Error {
    /// It has no host, or no port in digits.
    case form
    /// The port is above 65535.
    case portOutOfRange

    /// As it continues a sentence about the text.
    public var words: String {
        switch self {
        case .form: "is not an address with a port"
        case .portOutOfRange: "has a port above 65535"
        }
    }
}

/// `127.0.0.1:7400` or `[::1]:7400` in its parts.
public func addressParts(_ text: String) throws(AddressError) -> (host: String, port: UInt16) {
    guard let colon = text.lastIndex(of: ":") else { throw .form }
    var host = String(text[..<colon])
    let digits = text[text.index(after: colon)...]
    guard !host.isEmpty, !digits.isEmpty, digits.allSatisfy({ ("0"..."9").contains($0) }) else {
        throw .form
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
        host = String(host.dropFirst().dropLast())
    } else if host.contains(":") {
        throw .form
    }
    guard let port = UInt16(digits) else { throw .portOutOfRange }
    return (host, port)
}

/// The parts of an address; nil if it is none.
public func parseAddress(_ text: String) -> (host: String, port: UInt16)? {
    try? addressParts(text)
}
