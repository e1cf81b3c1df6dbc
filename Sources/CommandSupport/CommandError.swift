/// An error that is printed as it is, on standard error, with exit code 1.
public struct CommandError: Error, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// An error with this sentence.
    public init(_ description: String) {
        self.description = description
    }
}
