public import Passwords
public import XML

/// What a stream has understood of the bytes that it was given.
public enum StreamInput {
    /// Everything was read; call again when more has arrived, or after an answer.
    case needMore
    /// White space between stanzas: a sign of life.
    case keepAlive
    /// The stream has something for the client in its output. Call again.
    case output
    /// Write the output, drop whatever else was received without encryption, begin TLS, and call
    /// `encrypted()`.
    case startTLS
    /// Who is this? The stream reads nothing until it is answered.
    case authenticate(Authentication)
    /// An authentication has failed; the output says why. If that was the last chance, the stream
    /// was closed with the error, as by `error`; else call again.
    case denied(SASLFailure, StreamError?)
    /// Register an account; answer with `registered()` or `reject(registration:)`.
    case register(account: [UInt8], Password)
    /// Begin the session of this device; answer with `bound()` or `reject(bind:)`.
    case bind(device: [UInt8])
    /// A stanza of a bound stream, and its tree. Read the tree before the next call of the stream.
    case request(XMPPRequest, StanzaHead, XMLElement)
    /// Stream management is enabled: from now on the stream is to be given the stanzas that are
    /// sent, by `noteSent`. Call again.
    case managed
    /// The client has acknowledged stanzas. Call again.
    case acknowledged
    /// A stanza was answered with this error, which is in the output. Call again.
    case rejected(StanzaError)
    /// The client has ended the stream. Write the output and close the connection.
    case end
    /// The stream was closed. Write the output, which says why, and close the connection.
    case error(StreamError)
}

/// A question about the account that a client has named.
public enum Authentication: Hashable, Sendable {
    /// Is this the password or token of the account? `authenticated()` or `reject(_:)`.
    case password(account: [UInt8], secret: [UInt8])
    /// The keys of the account, or decoys; `challenge(with:)`, or `reject(_:)` if none can be read.
    case keys(account: [UInt8])
    /// The proof of a client of SCRAM, which is right or not. The answer is decided
    /// elsewhere: `authenticated()` or `reject(_:)`.
    case proof(account: [UInt8], ScramHash, isRight: Bool)
}

extension Authentication: CustomStringConvertible {
    /// Never the secret.
    public var description: String {
        switch self {
        case .password: "password"
        case .keys: "keys"
        case .proof: "proof"
        }
    }
}

/// A stanza, and which of the three it is.
public struct Stanza {
    /// The kinds of stanzas.
    public enum Kind: UInt8, CaseIterable, Hashable, Sendable {
        case message, presence, iq
    }

    /// The kind.
    public let kind: Kind
    /// The whole stanza.
    public let element: XMLElement
}
