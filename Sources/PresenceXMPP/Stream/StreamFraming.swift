/// What marks where the elements of a stream begin and end.
public enum StreamFraming: UInt8, CaseIterable, Sendable {
    /// The stream is one document, in pieces of any size (RFC 6120).
    case stream
    /// Each element is a message of a WebSocket, and a document by itself (RFC 7395).
    case messages
}
