import PresenceCore

/// What a question to the store is for: the answer goes there. It crosses as the token of a `Read`.
enum ReadPurpose: Equatable {
    /// The task with a password that has this number.
    case password(task: UInt64)
    /// The card whose read has this number.
    case card(UInt64)
    /// The messages of the share whose read has this number.
    case undelivered(UInt64)
    /// The messages for this connection, which may have ended by the time of the answer: its
    /// generation tells.
    case messages(ConnectionID)

    /// The tokens of reads for messages are those with this bit. Neither a number of a task nor the
    /// slot of a client's connection reaches it.
    private static let messageBit: UInt64 = 1 << 63
    /// Of the others, those of cards have this one. No number reaches it.
    private static let cardBit: UInt64 = 1 << 62

    /// And of the others, those of what is undelivered have this one.
    private static let undeliveredBit: UInt64 = 1 << 61

    /// The token of a read.
    var token: UInt64 {
        switch self {
        case .password(let task):
            precondition(task < Self.undeliveredBit, "too many tasks")
            return task
        case .card(let number):
            precondition(number < Self.undeliveredBit, "too many reads")
            return Self.cardBit | number
        case .undelivered(let number):
            precondition(number < Self.undeliveredBit, "too many reads")
            return Self.undeliveredBit | number
        case .messages(let connection):
            precondition(!connection.isInProcess, "callers in process are sent no messages")
            return Self.messageBit | UInt64(connection.slot) << 32 | UInt64(connection.generation)
        }
    }

    /// The purpose of the read with this token.
    init(token: UInt64) {
        guard token & Self.messageBit != 0 else {
            if token & Self.cardBit != 0 {
                self = .card(token & ~Self.cardBit)
            } else if token & Self.undeliveredBit != 0 {
                self = .undelivered(token & ~Self.undeliveredBit)
            } else {
                self = .password(task: token)
            }
            return
        }
        let number = token & ~Self.messageBit
        self = .messages(
            ConnectionID(
                slot: UInt32(number >> 32), generation: UInt32(truncatingIfNeeded: number)))
    }
}
