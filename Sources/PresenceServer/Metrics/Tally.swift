/// One counter for each word of a closed set: an enumeration of two or more cases without payloads.
struct Tally<Word: CaseIterable & Sendable>: Sendable {
    /// By `place`.
    private var counts: [Int]

    init() {
        precondition(MemoryLayout<Word>.size == 1, "a word is a case without a payload")
        counts = Array(
            repeating: 0, count: Word.allCases.reduce(0) { max($0, Self.place(of: $1) + 1) })
    }

    /// Counts one. O(1).
    mutating func count(_ word: Word) {
        counts[Self.place(of: word)] += 1
    }

    subscript(word: Word) -> Int { counts[Self.place(of: word)] }

    private static func place(of word: Word) -> Int {
        // SAFETY: the word is a byte, which differs from that of every other word.
        Int(unsafe unsafeBitCast(word, to: UInt8.self))
    }
}
