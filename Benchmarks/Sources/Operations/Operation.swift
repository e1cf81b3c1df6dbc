// The most frequent operations of the modules, each repeatable. `Instructions` counts what the
// processor executes for them.

/// One kind of work, by name.
public struct Operation: Sendable {
    /// `module: what`.
    public let name: String
    /// How many operations a run of the body is.
    public let perRun: Int
    /// Builds the world that the work needs and gives the work itself.
    public let make: @Sendable () -> Work

    init(_ name: String, perRun: Int = 1, _ make: @escaping @Sendable () -> Work) {
        (self.name, self.perRun, self.make) = (name, perRun, make)
    }

    /// All there are.
    public static let all = wheel + names + wire + engine + past + outboxes + tls
}

/// The work with its world.
public struct Work {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    /// Does it once.
    public func run() { body() }
}
