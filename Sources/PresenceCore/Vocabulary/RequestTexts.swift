import Containers

/// The names and texts of requests, one request after the other.
public struct RequestTexts: Sendable {
    private var text: [UInt8] = []
    private var names: [ByteRange] = []
    private var last = Mark(text: 0, names: 0)

    /// Where the names and texts of one request begin.
    public struct Mark: Hashable, Sendable {
        fileprivate var text: Int
        fileprivate var names: Int

        /// The same request, after all has been moved behind `offset`.
        public func moved(by offset: Mark) -> Mark {
            Mark(text: text + offset.text, names: names + offset.names)
        }
    }

    /// None.
    public init() {}

    /// Forgets all and keeps the memory.
    public mutating func removeAll() {
        text.clear()
        names.clear()
        last = Mark(text: 0, names: 0)
    }

    /// Begins the next request.
    public mutating func begin() -> Mark {
        last = Mark(text: text.count, names: names.count)
        return last
    }

    /// Begins the next request, with these texts, and names that are ranges of them.
    public mutating func append(
        _ text: ArraySlice<UInt8>, names: [ByteRange]
    ) -> Mark {
        let mark = begin()
        self.text.append(contentsOf: text)
        self.names.append(contentsOf: names)
        return mark
    }

    /// Copies those of others. Returns where they begin now: their marks move by that.
    public mutating func append(contentsOf other: RequestTexts) -> Mark {
        let mark = Mark(text: text.count, names: names.count)
        text.append(contentsOf: other.text)
        names.append(contentsOf: other.names)
        return mark
    }

    /// Adds a text to the last request.
    public mutating func add(_ text: [UInt8]) -> ByteRange {
        let start = self.text.count - last.text
        self.text.append(contentsOf: text)
        return ByteRange(start: Int32(start), count: Int32(text.count))
    }

    /// Adds a list of names, each once, to the last request.
    public mutating func add(names list: [[UInt8]]) -> NameList {
        let start = names.count - last.names
        for name in list { names.append(add(name)) }
        return NameList(start: Int32(start), count: Int32(list.count))
    }

    /// Those of one request.
    public subscript(mark: Mark) -> TextSource { TextSource(text: text, names: names, mark: mark) }

    /// Those of the last request.
    public var ofLast: TextSource { self[last] }
}

/// The names and texts of one request. Ranges in the request refer to them.
public struct TextSource: Sendable {
    private let text: [UInt8]
    private let names: [ByteRange]
    private let mark: RequestTexts.Mark

    fileprivate init(text: [UInt8], names: [ByteRange], mark: RequestTexts.Mark) {
        self.text = text
        self.names = names
        self.mark = mark
    }

    /// Reads a name or text.
    public func withBytes<Value>(_ range: ByteRange, _ read: (Span<UInt8>) -> Value) -> Value {
        let start = mark.text + Int(range.start)
        return read(text.span.extracting(start..<start + Int(range.count)))
    }

    /// A copy of a name or text.
    public func bytes(_ range: ByteRange) -> [UInt8] {
        let start = mark.text + Int(range.start)
        return [UInt8](text[start..<start + Int(range.count)])
    }

    /// The names of a list.
    public func names(_ list: NameList) -> ArraySlice<ByteRange> {
        let start = mark.names + Int(list.start)
        return names[start..<start + Int(list.count)]
    }
}

/// A list of names of a request, each once, in the order of first appearance.
public struct NameList: Hashable, Sendable {
    /// The index of the first name among those of its request.
    public var start: Int32
    /// The number of names.
    public var count: Int32

    /// The names in this range.
    public init(start: Int32, count: Int32) {
        self.start = start
        self.count = count
    }
}
