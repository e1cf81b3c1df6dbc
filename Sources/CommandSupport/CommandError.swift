public import ArgumentParser

extension ExitCode {
    /// The same may succeed later, without a change of settings (EX_TEMPFAIL).
    public static let temporaryFailure = ExitCode(75)
}

/// An error that is printed as it is, on standard error, with exit code 1.
public struct CommandError: Error, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// An error with this sentence.
    public init(_ description: String) {
        self.description = description
    }
}
