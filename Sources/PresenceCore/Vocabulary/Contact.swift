/// What an account wants of its relationship with another.
public enum ContactAction: Hashable, Sendable {
    /// Say this word; the content goes with a request.
    case say(RelationWord, RequestContent)
    /// Keep these names for the other. Adds the other to the contacts.
    case describe(ContactLabel)
    /// End both directions and forget the other.
    case remove
}

extension ContactAction {
    /// Say this word; `text` goes with a request.
    public static func say(_ word: RelationWord, text: [UInt8]?) -> ContactAction {
        .say(word, RequestContent(text: text))
    }
}

/// What an account says with a request.
public struct RequestContent: Hashable, Sendable {
    /// For people; nil: nothing.
    public var text: [UInt8]?
    /// Further content from an XMPP client, as XML that is passed on; empty: none.
    public var extra: [UInt8]

    /// Nothing.
    public static let none = RequestContent()

    /// A content.
    public init(text: [UInt8]? = nil, extra: [UInt8] = []) {
        self.text = text
        self.extra = extra
    }
}

/// What an account calls a contact: for itself only.
public struct ContactLabel: Hashable, Sendable {
    /// The name and the groups, each group after a byte 0x1F, which no text contains. Groups are
    /// not empty and without duplicates. At most `bytesMax` bytes.
    public let bytes: [UInt8]

    /// The most bytes of a name, and of each group.
    public static let nameBytesMax = 1_023
    /// The most bytes of a name and its groups, with a byte before each group.
    public static let bytesMax = 4_096
    /// For how many bytes each contact of an account has room on average: long labels take of the
    /// room of others.
    public static let bytesOnAverageMax = 255

    /// No name and no groups.
    public static let none = ContactLabel(stored: [])

    /// A label in the form of `bytes`, from the store; cut to `bytesMax`.
    public init(stored bytes: [UInt8]) {
        self.bytes = Array(bytes.prefix(Self.bytesMax))
    }

    /// A name and groups; nil if they do not fit, if a group is empty or given twice, or if a text
    /// contains a control character.
    public init?(name: [UInt8], groups: [[UInt8]]) {
        let texts = [name] + groups
        guard texts.allSatisfy({ $0.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }),
            texts.allSatisfy({ $0.count <= Self.nameBytesMax }),
            groups.allSatisfy({ !$0.isEmpty }), Set(groups).count == groups.count,
            texts.reduce(groups.count, { $0 + $1.count }) <= Self.bytesMax
        else { return nil }
        bytes = Array(texts.joined(separator: [Self.separator]))
    }

    private static let separator: UInt8 = 0x1F

    /// The name; empty if there is none.
    public var name: ArraySlice<UInt8> {
        bytes.prefix { $0 != Self.separator }
    }

    /// The groups.
    public var groups: [ArraySlice<UInt8>] {
        Array(
            bytes.split(separator: Self.separator, omittingEmptySubsequences: false).dropFirst())
    }
}

/// A contact of an account, or an account that asks to become one.
public struct ContactEntry: Hashable, Sendable {
    /// Its name, in `Effects.bytes`.
    public var account: ByteRange
    /// What the account calls it, in `Effects.bytes`, in the form of `ContactLabel.bytes`.
    public var label: ByteRange
    /// Whether the account sees it.
    public var seen: RelationState
    /// Whether it sees the account.
    public var sees: RelationState
    /// The text of its request, in `Effects.bytes`; nil if there is none.
    public var requestText: ByteRange?
    /// The further content of its request, in `Effects.bytes`; nil if there is none.
    public var requestExtra: ByteRange?
    /// Whether its next request is accepted at once.
    public var isApprovedBefore: Bool
    /// Whether it is on the account's list for another reason than its states.
    public var isListed: Bool

    /// Whether it is one of the account's contacts. Who only asks is none (RFC 6121, section 2.1).
    public var isContact: Bool { isListed || seen != .none || sees == .active }
}

/// A change of a contact, for the account's sessions.
public struct ContactNotice: Hashable, Sendable {
    /// The contact after the change.
    public var contact: ContactEntry
    /// What it has said to the account; nil if the account itself has made the change.
    public var word: RelationWord?
    /// Whether what the account's list shows has changed.
    public var isListChanged: Bool
}
