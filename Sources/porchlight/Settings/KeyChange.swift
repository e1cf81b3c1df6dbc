import CommandSupport
import PresenceTokens

/// A key that was added or removed when the key files were read again.
struct KeyChange: Hashable, Sendable {
    let kind: Kind
    let event: Event
    /// The name of the key; nothing else of it is logged.
    let name: String

    enum Kind: String { case server, token }
    enum Event: String { case added, removed, replaced }

    /// `server key added: billing-2`
    var text: String { "\(kind.rawValue) key \(event.rawValue): \(cut(name))" }
}

extension KeyFiles {
    /// The differences from these files to others.
    func changes(to other: KeyFiles) -> [KeyChange] {
        let (mine, others) = (Set(serverKeys), Set(other.serverKeys))
        let ofServers = Self.changes(
            of: .server,
            removed: serverKeys.filter { !others.contains($0) }.map(\.name),
            added: other.serverKeys.filter { !mine.contains($0) }.map(\.name))
        // Keys at a URL are fetched, not read.
        guard case .inFile(let before) = tokenKeys, case .inFile(let after) = other.tokenKeys
        else { return ofServers }
        return ofServers
            + Self.changes(
                of: .token, removed: before.names(ofKeysMissingIn: after),
                added: after.names(ofKeysMissingIn: before))
    }

    /// A name that was both added and removed has a new key.
    private static func changes(
        of kind: KeyChange.Kind, removed: [String], added: [String]
    ) -> [KeyChange] {
        var added = added
        let gone = removed.map { name in
            guard let place = added.firstIndex(of: name) else {
                return KeyChange(kind: kind, event: .removed, name: name)
            }
            added.remove(at: place)
            return KeyChange(kind: kind, event: .replaced, name: name)
        }
        return gone + added.map { KeyChange(kind: kind, event: .added, name: $0) }
    }
}
