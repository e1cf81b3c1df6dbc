internal import PresenceCore

/// Which names accounts and devices may have, by their bytes and lengths.
public enum AccountName {
    private static let limits = Limits()

    /// Whether an account may have this name.
    public static func isAccount(_ name: [UInt8]) -> Bool { isName(name, limits.accountBytesMax) }

    /// Whether a device may have this name.
    public static func isDevice(_ name: [UInt8]) -> Bool { isName(name, limits.deviceBytesMax) }

    private static func isName(_ name: [UInt8], _ bytesMax: Int) -> Bool {
        guard name.count <= bytesMax, NameRule.admits(name.span) else { return false }
        return name.allSatisfy { $0 < 0x80 } || String(validating: name, as: UTF8.self) != nil
    }
}
