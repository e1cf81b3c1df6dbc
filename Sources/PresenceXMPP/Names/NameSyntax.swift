internal import PresenceCore

/// Which names accounts and devices may have, whatever the service's own limits of their lengths.
public enum NameSyntax {
    /// Whether an account or a device may have this name.
    public static func admits(_ name: [UInt8]) -> Bool {
        guard name.count <= Limits.nameBytesMax, NameRule.admits(name.span) else { return false }
        return name.allSatisfy { $0 < 0x80 } || String(validating: name, as: UTF8.self) != nil
    }
}
