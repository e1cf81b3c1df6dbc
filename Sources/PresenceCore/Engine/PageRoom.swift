/// How much of a list still fits on a page: as many entries as were asked for, and a number of
/// bytes of names and texts. So a request has an answer of a bounded size, and the rest is on the
/// next page.
struct PageRoom {
    private var entriesLeft: Int
    private let bytesEnd: Int

    /// The room of a page that begins now. A list without a limit on its entries is in one piece.
    init(entriesMax: Int, after effects: borrowing Effects) {
        entriesLeft = entriesMax
        let isWhole = entriesMax == .max
        bytesEnd = isWhole ? .max : effects.bytes.count + Limits.pageBytesMax
    }

    /// Takes the place of an entry; returns false if there is none. The last one may exceed the
    /// bytes.
    mutating func take(after effects: borrowing Effects) -> Bool {
        guard entriesLeft > 0, effects.bytes.count < bytesEnd else { return false }
        entriesLeft -= 1
        return true
    }
}
