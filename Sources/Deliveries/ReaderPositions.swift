/// Where positions of readers are stored: on disk, or elsewhere in tests.
public struct ReaderPositions: Sendable {
    private let header: String
    private let read: @Sendable (_ name: String) -> [UInt8]?
    private let write: @Sendable (_ name: String, _ content: [UInt8]) -> Bool

    /// Positions of readers of a kind, such as `webhook`, by their names.
    ///
    /// `write` returns true when the whole content is durable. If it fails, the previous content
    /// remains.
    public init(
        of kind: String, read: @escaping @Sendable (_ name: String) -> [UInt8]?,
        write: @escaping @Sendable (_ name: String, _ content: [UInt8]) -> Bool
    ) {
        header = "porchlight \(kind) 1\n"
        self.read = read
        self.write = write
    }

    /// The position of a reader; nil for the beginning.
    public func cursor(of name: String) -> String? {
        guard let content = read(name) else { return nil }
        let text = String(decoding: content, as: UTF8.self)
        guard text.hasPrefix(header), text.hasSuffix("\n") else { return nil }
        let cursor = text.dropFirst(header.count).dropLast()
        return cursor.isEmpty ? nil : String(cursor)
    }

    /// Stores the position of a reader; nil for the beginning.
    public func store(_ cursor: String?, of name: String) -> Bool {
        write(name, Array("\(header)\(cursor ?? "")\n".utf8))
    }
}
