// One input, cut up in several ways: what is read must not depend on where it is cut.

/// What reads an input in pieces.
protocol PieceReader {
    associatedtype Outcome: Equatable

    /// What has been read.
    var outcomes: [Outcome] { get }
    /// Reads what has come; stops after each outcome, if `stops` says so, as an owner does whose
    /// request waits for the store. The next call continues there.
    mutating func feed(_ chunk: ArraySlice<UInt8>, stops: Bool)
}

/// Feeds an input as a whole, byte by byte, and in random pieces; returns the reader of the whole.
func checkCuts<Reader: PieceReader>(
    _ bytes: [UInt8], seed: UInt64, _ make: () -> Reader
) -> Reader {
    var whole = make()
    whole.feed(bytes[...], stops: false)
    var single = make()
    for place in bytes.indices { single.feed(bytes[place...place], stops: false) }
    require(single.outcomes == whole.outcomes, "byte by byte is not the same")
    var cuts = seed
    for stops in [false, true] {
        var split = make()
        var place = 0
        while place < bytes.count {
            cuts = cuts &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let length = 1 + Int(cuts >> 33) % (bytes.count - place)
            split.feed(bytes[place..<place + length], stops: stops)
            place += length
        }
        // What an owner has paused at, it goes on with before it waits for more.
        split.feed([], stops: false)
        require(split.outcomes == whole.outcomes, "split is not the same, stops: \(stops)")
    }
    return whole
}
