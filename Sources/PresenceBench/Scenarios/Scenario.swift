package import ArgumentParser

/// A load test: its settings, which are options of `porchlight bench`, and how it is run.
package protocol Scenario: ParsableArguments {
    /// The subcommand of `porchlight bench`.
    static var name: String { get }
    /// What is measured, for the help.
    static var abstract: String { get }

    /// Runs it.
    ///
    /// - Throws: what went wrong, also if an event was lost, duplicated or out of order.
    func run(_ options: BenchOptions) throws(BenchError) -> Report
}
