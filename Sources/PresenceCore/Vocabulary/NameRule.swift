/// The rule for names of accounts and devices, which is that of docs/PROTOCOL.md.
public enum NameRule {
    /// Whether UTF-8 can be a name: it is not empty, has no control characters (C0, DEL and C1) and
    /// neither begins nor ends with a space. O(bytes).
    @inlinable
    public static func admits(_ name: Span<UInt8>) -> Bool {
        let last = name.count - 1
        guard last >= 0, name[0] != 0x20, name[last] != 0x20 else { return false }
        for index in name.indices {
            let byte = name[index]
            if byte < 0x20 || byte == 0x7F { return false }
            // U+0080 to U+009F are C2 80 to C2 9F.
            if byte == 0xC2 && index < last && name[index + 1] < 0xA0 { return false }
        }
        return true
    }
}
