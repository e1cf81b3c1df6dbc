/// What is kept of the password of an account. The store does not look into it.
public struct CredentialRow: Sendable, Equatable {
    /// The account.
    public var account: [UInt8]
    /// The rounds of the derivation.
    public var iterations: Int32 = 0
    /// The salt of the derivation.
    public var salt: [UInt8] = []
    /// With SHA-1, what verifies a client.
    public var storedSHA1: [UInt8] = []
    /// With SHA-1, what proves the service.
    public var serverSHA1: [UInt8] = []
    /// With SHA-256, what verifies a client.
    public var storedSHA256: [UInt8] = []
    /// With SHA-256, what proves the service.
    public var serverSHA256: [UInt8] = []
    /// When the password was set, in milliseconds since 1970.
    public var created: Int64 = 0

    /// Creates a row; the other fields are set afterwards.
    public init(account: [UInt8]) {
        self.account = account
    }
}

extension CredentialRow: CustomStringConvertible {
    /// Never the keys.
    public var description: String { "CredentialRow" }
}
