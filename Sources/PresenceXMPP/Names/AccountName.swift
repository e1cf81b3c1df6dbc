internal import PresenceCore

/// The rule for names of accounts and devices, which is that of docs/PROTOCOL.md.
public enum AccountName {
    private static let limits = Limits()

    /// Whether an account may have this name.
    public static func isAccount(_ name: [UInt8]) -> Bool { isName(name, limits.accountBytesMax) }

    /// Whether a device may have this name.
    public static func isDevice(_ name: [UInt8]) -> Bool { isName(name, limits.deviceBytesMax) }

    /// UTF-8 without control characters (C0, DEL and C1), and without a space at either end.
    private static func isName(_ name: [UInt8], _ bytesMax: Int) -> Bool {
        guard let first = name.first, let last = name.last, name.count <= bytesMax,
            first != 0x20, last != 0x20
        else { return false }
        if name.allSatisfy({ (0x20..<0x7F).contains($0) }) { return true }
        guard let text = String(validating: name, as: UTF8.self) else { return false }
        return text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}
