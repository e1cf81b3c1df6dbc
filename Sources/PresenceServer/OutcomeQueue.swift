import PresenceCore
import PresenceStore

/// Outcomes of writes that have not been reported to the engine host, in their order.
///
/// One commit may finish the requests of many clients, each with an answer of a hundred states. So
/// they are reported until there is enough output, and the rest when that has been handed on.
struct OutcomeQueue {
    private var outcomes: [Outcome] = []
    /// Outcomes at the beginning that have been reported.
    private var reportedCount = 0

    /// Output after which the rest waits: some hundred microseconds of encoding.
    static let outputBytesMax = 128 << 10

    var isEmpty: Bool { reportedCount == outcomes.count }

    mutating func append(_ more: [Outcome]) {
        if isEmpty {
            (outcomes, reportedCount) = (more, 0)
        } else {
            outcomes += more
        }
    }

    /// Reports at least one, until the output exceeds `outputBytesMax`.
    mutating func report<Disk: Persistence, Resources: ProcessResources>(
        to host: inout EngineHost<Disk, Resources>, at now: Moment
    ) {
        while !isEmpty {
            host.report(outcomes[reportedCount], at: now)
            reportedCount += 1
            if host.output.byteCount > Self.outputBytesMax { return }
        }
        outcomes = []
        reportedCount = 0
    }
}
