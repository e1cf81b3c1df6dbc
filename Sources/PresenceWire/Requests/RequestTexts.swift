public import PresenceCore

/// The names and texts of requests that have left their decoder, one after the other.
public struct RequestTexts: Sendable {
    private var text: [UInt8] = []
    private var names: [ByteRange] = []

    /// Where the names and texts of one request begin.
    public struct Mark: Hashable, Sendable {
        fileprivate var text: Int
        fileprivate var names: Int
    }

    /// None.
    public init() {}

    /// Forgets all and keeps the memory.
    public mutating func removeAll() {
        if !text.isEmpty { text.removeAll(keepingCapacity: true) }
        if !names.isEmpty { names.removeAll(keepingCapacity: true) }
    }

    /// Copies those of the decoder's last request. O(bytes of its frame).
    ///
    /// The decoder does not change: `inout` passes it by address, and `borrowing` a copy.
    public mutating func append(textsOf decoder: inout RequestDecoder) -> Mark {
        let mark = Mark(text: text.count, names: names.count)
        text.append(contentsOf: decoder.usedText)
        if !decoder.names.isEmpty { names.append(contentsOf: decoder.names) }
        return mark
    }

    /// Reads a name or text of a request.
    public func withBytes<Value>(
        _ range: ByteRange, at mark: Mark, _ read: (Span<UInt8>) -> Value
    ) -> Value {
        let start = mark.text + Int(range.start)
        return read(text.span.extracting(start..<start + Int(range.count)))
    }

    /// A copy of a name or text of a request.
    public func bytes(_ range: ByteRange, at mark: Mark) -> [UInt8] {
        let start = mark.text + Int(range.start)
        return [UInt8](text[start..<start + Int(range.count)])
    }

    /// The names of a list of a request.
    public func names(_ list: NameList, at mark: Mark) -> ArraySlice<ByteRange> {
        let start = mark.names + Int(list.start)
        return names[start..<start + Int(list.count)]
    }
}
