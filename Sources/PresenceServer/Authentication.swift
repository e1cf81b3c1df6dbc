/// Who knows whether credentials hold. The service itself knows nothing of keys and signatures.
public protocol Authenticator: Sendable {
    /// What an app server's key is called in the log; nil where it is no key.
    ///
    /// Asked on the loop's thread: it must cost no more than microseconds, and not tell by the
    /// time it takes which key a candidate was near.
    func name(ofServerKey candidate: [UInt8]) -> String?
}
