/// Why a run ended without a result, or with one that must not count: one sentence.
public struct BenchError: Error, CustomStringConvertible {
    /// The sentence.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
