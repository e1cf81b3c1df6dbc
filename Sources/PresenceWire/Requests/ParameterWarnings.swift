// Members of `params` that a method does not know and ignores, where one that it knows may be
// meant. A request is carried out all the same: its client may be newer than the service.

internal import CSimdJSON
public import PresenceCore

/// A member of a request that was ignored, and what its sender may have meant.
public struct ParameterWarning: Hashable, Sendable {
    /// The member, unescaped.
    public var field: [UInt8]
    /// The parameter that is similar.
    public var suggestion: Rejection.Field

    /// The most that a response has.
    static let countMax = 4
}

extension MethodName {
    /// The members of `params` that the method knows. The decoder reads them whatever this says:
    /// only the search for similar names needs it.
    var parameters: [Rejection.Field] {
        switch self {
        case .login:
            [
                .token, .key, .account, .password, .client, .device, .pushReachable, .sync,
                .contacts, .messages,
            ]
        case .refresh: [.token]
        case .logout, .ping, .stats, .metrics: []
        case .subscribe: [.account, .type, .expiry, .publishers, .sync]
        case .unsubscribe: [.account, .type, .publishers]
        case .subscriptions: [.account, .type, .publishers, .cursor, .limit]
        case .publish: [.account, .type, .value, .expiry, .ext, .onlineOnly, .sync]
        case .clear: [.account, .type]
        case .relate: [.account, .contact, .action, .text, .name, .groups]
        case .contacts: [.account, .cursor, .limit]
        case .setVisibility: [.account, .visibility]
        case .setAvailability: [.show, .priority, .text]
        case .send:
            [
                .account, .accounts, .device, .aliases, .tags, .tagsAll, .tagsNot, .body, .ext,
                .ref, .receipt, .expiry,
            ]
        case .take: [.id]
        case .discard: [.account, .from]
        case .setDevice: [.account, .device, .alias, .tags, .pushAddress, .ifPushAddress]
        case .devices, .sessions, .removePassword: [.account]
        case .query: [.type, .accounts]
        case .subscribers: [.type, .publisher, .cursor, .limit]
        case .kick: [.account, .device, .reason]
        case .setPassword: [.account, .password]
        case .why: [.subscriber, .publisher, .type]
        case .top: [.limit]
        case .feed: [.cursor, .from]
        case .undelivered: [.cursor]
        }
    }
}

extension Rejection.Field {
    /// What others call a parameter, and what it is called here.
    private static let foreignNames: [(name: String, field: Self)] = [
        ("ttl", .expiry), ("time_to_live", .expiry), ("validTime", .expiry),
        ("duration", .expiry), ("timeout", .expiry), ("publisher", .publishers),
        ("publishers", .publisher), ("accids", .accounts), ("text", .body),
    ]

    /// The letters in which two names may differ.
    private static let editsMax = 2

    /// The parameter among those of a method that a member with another name may mean; nil: none.
    static func similar(to name: [UInt8], among known: [Self]) -> Self? {
        let foreign = foreignNames.first { $0.name.utf8.elementsEqual(name) }?.field
        if let foreign, known.contains(foreign) { return foreign }
        var nearest: (field: Self, edits: Int)?
        let lowercasedName = lowercased(name)
        for field in known {
            // As many letters as these differ by must be inserted.
            guard abs(field.rawValue.utf8.count - name.count) <= editsMax else { continue }
            let word = Array(field.rawValue.utf8)
            // A name of which nothing is left is not similar.
            let most = Swift.min(editsMax, word.count - 1, name.count - 1)
            let count = edits(lowercasedName, lowercased(word))
            if count <= most, count < nearest?.edits ?? .max { nearest = (field, count) }
        }
        return nearest?.field
    }

    private static func lowercased(_ name: [UInt8]) -> [UInt8] {
        name.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
    }

    /// Insertions, deletions and substitutions. Both have at most 16 bytes.
    private static func edits(_ a: [UInt8], _ b: [UInt8]) -> Int {
        var row = Array(0...b.count)
        for i in a.indices {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let changed = diagonal + (a[i] == b[j] ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = Swift.min(changed, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[b.count]
    }
}

extension [ParameterWarning] {
    /// Adds one for a member with this key, if a known parameter is similar.
    mutating func note(_ key: Word, among known: [Rejection.Field]) {
        guard count < ParameterWarning.countMax, let name = key.bytes,
            let field = Rejection.Field.similar(to: name, among: known)
        else { return }
        append(ParameterWarning(field: name, suggestion: field))
    }
}

extension Word {
    /// The whole text; nil if it is longer than a word.
    fileprivate var bytes: [UInt8]? {
        guard count <= Self.bytesMax else { return nil }
        return (0..<Int(count)).map { index in
            let half = index < 8 ? low.littleEndian : high.littleEndian
            return UInt8(truncatingIfNeeded: half >> (8 * (UInt64(index) & 7)))
        }
    }
}
