import Containers
import PresenceCore
import PresenceStore

/// Outcomes of writes that have not been reported to the engine host, in their order.
///
/// One commit may finish the requests of many clients, each with an answer of a hundred states. So
/// they are reported until there is enough output, and the rest when that has been handed on.
struct OutcomeQueue {
    private var outcomes = Queue<Outcome>()

    /// The cost of output after which the rest waits: some hundred microseconds of encoding.
    static let costMax = 128 << 10

    var isEmpty: Bool { outcomes.isEmpty }

    mutating func append(_ more: [Outcome]) {
        for outcome in more { outcomes.append(outcome) }
    }

    /// Reports at least one, until the output costs more than `costMax`.
    mutating func report<Disk: Persistence, Resources: ProcessResources>(
        to host: inout EngineHost<Disk, Resources>, at now: Moment
    ) {
        while let outcome = outcomes.popFirst() {
            host.report(outcome, at: now)
            if host.output.cost > Self.costMax { return }
        }
    }
}
