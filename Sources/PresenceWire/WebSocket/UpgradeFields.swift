import HTTPValues

/// The fields of a request for a WebSocket, as far as they matter.
struct UpgradeFields {
    private(set) var hostCount = 0
    /// `Upgrade` has `websocket`.
    private(set) var asksForWebSocket = false
    /// `Connection` has `upgrade`.
    private(set) var asksForUpgrade = false
    private(set) var key: [UInt8]?
    private(set) var version: [UInt8]?
    private(set) var origin: [UInt8]?
    private(set) var offersSubprotocols = false
    /// Those of the service that are offered.
    private(set) var offered: Set<UpgradeRequest.Target> = []

    /// Takes a line, without its end. A line that continues the one before it has no name.
    mutating func take(_ line: ArraySlice<UInt8>) throws(UpgradeError) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .malformed }
        let name = line[..<colon]
        guard !name.isEmpty, name.allSatisfy(\.isTokenByte) else { throw .malformed }
        let value = line[(colon + 1)...].withoutBlanks
        switch String(decoding: name, as: UTF8.self).lowercased() {
        case "host":
            hostCount += 1
            guard Self.isHost(value) else { throw .host }
        case "transfer-encoding": throw .body
        case "content-length":
            guard value.elementsEqual("0".utf8) else { throw .body }
        case "upgrade": try asksForWebSocket.formUnion(Self.list(value), has: "websocket")
        case "connection": try asksForUpgrade.formUnion(Self.list(value), has: "upgrade")
        case "sec-websocket-key":
            guard key == nil else { throw .key }
            key = Array(value)
        case "sec-websocket-version":
            guard version == nil else { throw .version }
            version = Array(value)
        case "origin":
            guard origin == nil else { throw .malformed }
            origin = Array(value)
        case "sec-websocket-protocol":
            offersSubprotocols = true
            for name in try Self.list(value) {
                for target in UpgradeRequest.Target.allCases
                where name.elementsEqual(target.subprotocol.utf8) {
                    offered.insert(target)
                }
            }
        default: break
        }
    }

    /// A name or an address, with or without a port: the bytes of RFC 3986, 3.2.2. Not empty.
    private static func isHost(_ value: ArraySlice<UInt8>) -> Bool {
        !value.isEmpty
            && value.allSatisfy { byte in
                byte.isTokenByte && !"#^`|".utf8.contains(byte) || "()[]:;,=".utf8.contains(byte)
            }
    }

    /// The tokens of a list. Empty ones are ignored: RFC 9110, 5.6.1.
    private static func list(_ value: ArraySlice<UInt8>) throws(UpgradeError) -> [ArraySlice<UInt8>]
    {
        let words = value.split(separator: UInt8(ascii: ",")).map(\.withoutBlanks).filter {
            !$0.isEmpty
        }
        // `Upgrade` may have a version: `websocket/13`.
        for word in words where !word.allSatisfy({ $0.isTokenByte || $0 == UInt8(ascii: "/") }) {
            throw .malformed
        }
        return words
    }
}

extension Bool {
    /// Becomes true if a list of tokens has a word, in small letters or capitals.
    fileprivate mutating func formUnion(_ words: [ArraySlice<UInt8>], has word: String) {
        self =
            self || words.contains { String(decoding: $0, as: UTF8.self).lowercased() == word }
    }
}
