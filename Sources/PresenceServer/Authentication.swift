/// A key with which app servers log in.
public struct ServerKey: Sendable {
    /// Bytes of a key: enough to be beyond guessing, little enough to fit a frame.
    public static let byteCountRange = 16...512

    private let bytes: [UInt8]

    /// A key, or nil where it is too short to be one or too long.
    public init?(_ bytes: [UInt8]) {
        guard Self.byteCountRange.contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Whether `candidate` is this key, in a time that does not tell where they differ.
    func matches(_ candidate: [UInt8]) -> Bool {
        var difference = UInt8(truncatingIfNeeded: bytes.count ^ candidate.count)
        difference |= UInt8(truncatingIfNeeded: (bytes.count ^ candidate.count) >> 8)
        for place in bytes.indices {
            difference |= bytes[place] ^ (place < candidate.count ? candidate[place] : 0)
        }
        return difference == 0
    }
}
