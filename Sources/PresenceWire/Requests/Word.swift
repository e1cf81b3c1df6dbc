internal import PresenceCore

/// A short text that is compared at once: its first 16 bytes and its length.
struct Word: Hashable {
    static let bytesMax = 16

    var low: UInt64
    var high: UInt64
    var count: UInt32

    init(low: UInt64, high: UInt64, count: UInt32) {
        self.low = low
        self.high = high
        self.count = count
    }

    /// A word of the protocol.
    init(_ text: String) {
        precondition(text.utf8.count <= Self.bytesMax)
        var halves: (low: UInt64, high: UInt64) = (0, 0)
        for (index, byte) in text.utf8.enumerated() {
            if index < 8 {
                halves.low |= UInt64(byte) << (8 * index)
            } else {
                halves.high |= UInt64(byte) << (8 * (index - 8))
            }
        }
        self.init(
            low: UInt64(littleEndian: halves.low), high: UInt64(littleEndian: halves.high),
            count: UInt32(text.utf8.count))
    }
}

/// The words that a member may have, each with its meaning.
struct Vocabulary<Meaning> {
    private let words: [Word]
    private let meanings: [Meaning]

    init(_ entries: [(String, Meaning)]) {
        words = entries.map { Word($0.0) }
        meanings = entries.map(\.1)
    }

    /// The meaning of the word; nil if it is unknown.
    /// - Complexity: O(n), with a dozen words at most.
    subscript(word: Word) -> Meaning? {
        for index in words.indices where words[index] == word {
            return meanings[index]
        }
        return nil
    }
}

/// A parameter and its key on the wire.
struct Parameter {
    let field: Rejection.Field
    let key: Word

    private init(_ field: Rejection.Field) {
        self.field = field
        self.key = Word(field.rawValue)
    }

    static let token = Parameter(.token)
    static let key = Parameter(.key)
    static let account = Parameter(.account)
    static let accounts = Parameter(.accounts)
    static let client = Parameter(.client)
    static let device = Parameter(.device)
    static let pushReachable = Parameter(.pushReachable)
    static let sync = Parameter(.sync)
    static let type = Parameter(.type)
    static let expiry = Parameter(.expiry)
    static let subscriber = Parameter(.subscriber)
    static let publisher = Parameter(.publisher)
    static let publishers = Parameter(.publishers)
    static let cursor = Parameter(.cursor)
    static let from = Parameter(.from)
    static let limit = Parameter(.limit)
    static let value = Parameter(.value)
    static let ext = Parameter(.ext)
    static let onlineOnly = Parameter(.onlineOnly)
    static let reason = Parameter(.reason)
    static let contacts = Parameter(.contacts)
    static let contact = Parameter(.contact)
    static let action = Parameter(.action)
    static let text = Parameter(.text)
    static let name = Parameter(.name)
    static let groups = Parameter(.groups)
    static let visibility = Parameter(.visibility)
    static let password = Parameter(.password)
    static let show = Parameter(.show)
    static let priority = Parameter(.priority)
    static let body = Parameter(.body)
    static let ref = Parameter(.ref)
    static let receipt = Parameter(.receipt)
    static let id = Parameter(.id)
    static let messages = Parameter(.messages)
    static let alias = Parameter(.alias)
    static let aliases = Parameter(.aliases)
    static let tags = Parameter(.tags)
    static let tagsAll = Parameter(.tagsAll)
    static let tagsNot = Parameter(.tagsNot)
    static let pushAddress = Parameter(.pushAddress)
    static let ifPushAddress = Parameter(.ifPushAddress)
}
