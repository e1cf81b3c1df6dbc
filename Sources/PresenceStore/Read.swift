/// A question about stored data that are not kept in memory, while the service runs.
///
/// It is answered on the store's thread, in the order of submission: it sees every write that was
/// submitted before it, and perhaps later ones.
public enum Read: Sendable, Hashable {
    /// What is kept of the password of an account.
    case credential(account: [UInt8])
    /// The card of an account.
    case card(account: [UInt8])
    /// The contents of messages, for a session.
    case messages(ids: [Int64])
    /// The contents of messages, for a reader of what is undelivered.
    case undelivered(ids: [Int64])
}

/// The answer to a `Read`.
public struct ReadOutcome: Sendable, Equatable {
    /// What was read, or why it could not be read now.
    public typealias Content<Value> = Swift.Result<Value, StoreError>

    /// The content of each kind of question.
    public enum Result: Sendable, Equatable {
        /// The row; nil: the account has none.
        case credential(Content<CredentialRow?>)
        /// The content; nil: the account has none.
        case card(Content<[UInt8]?>)
        /// Those that are stored, in the order of the question.
        case messages(Content<[MessageContentRow]>)
        /// The same.
        case undelivered(Content<[MessageContentRow]>)
    }

    /// The token of the question.
    public var token: UInt64
    /// What was read.
    public var result: Result

    /// Creates an outcome.
    public init(token: UInt64, result: Result) {
        self.token = token
        self.result = result
    }
}

/// A question and its token.
struct ReadRequest: Sendable {
    var token: UInt64
    var read: Read
}
