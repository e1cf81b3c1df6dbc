/// The local part of an account's JID. Every account has exactly one, and back: `Bob` is `\42ob`.
public enum Localpart {
    /// The account that a local part names; nil: malformed. Capital letters of ASCII count as
    /// small ones. Strict, so that no two local parts mean the same account.
    public static func account(of localpart: some Collection<UInt8>) -> [UInt8]? {
        let prepared = localpart.map(lowered)
        // Escapes of what needs none, and characters that need them, are found by the comparison.
        guard let account = JIDPart.unescaped(prepared), NameSyntax.admits(account),
            self.localpart(of: account) == prepared
        else { return nil }
        return account
    }

    /// The local part of an account.
    public static func localpart(of account: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLocalpart(of: account)
        return bytes
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}

extension [UInt8] {
    /// Appends the local part of an account. It has no characters that XML would escape.
    public mutating func appendLocalpart(of account: some Collection<UInt8>) {
        if JIDPart.localpart.isSame(as: account) {
            append(contentsOf: account)
        } else {
            JIDPart.localpart.append(account, to: &self)
        }
    }
}
