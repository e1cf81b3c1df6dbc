import PresenceCore
import PresenceWire

/// A question about the service.
struct Question: Sendable {
    /// The connection that waits for the answer; nil: the service's own.
    var connection: ConnectionID?
    var subject: Subject

    enum Subject: Sendable {
        case stats
        case metrics
        case why(subscriber: [UInt8], publisher: [UInt8], EventType)
        case top(entriesMax: Int)
        /// A sample of the counters whose growth `top` shows.
        case rates

        /// What a request asks.
        init(_ question: ServiceQuestion, _ texts: TextSource) {
            self =
                switch question {
                case .stats: .stats
                case .metrics: .metrics
                case .why(let request):
                    .why(
                        subscriber: texts.bytes(request.subscriber),
                        publisher: texts.bytes(request.publisher), request.type)
                case .top(let request): .top(entriesMax: request.entriesMax)
                }
        }
    }
}

/// Questions about the service, in the order in which they came.
///
/// Each reads large tables, which takes a millisecond or two, and the connection loops are asked
/// first for what they have measured. So there is one at a time, and the others wait: however many
/// app servers ask, clients wait for one answer at most.
struct Questions {
    /// From `first` on; those before have been asked.
    private var waiting: [Question] = []
    private var first = 0
    private var asked: Asked?
    private var lastNumber: UInt64 = 0

    /// The question that the loops have been asked for.
    private struct Asked {
        var question: Question
        var number: UInt64
        /// By loop. One that is stalled is not asked.
        var reports: [LoopReport?]
        /// Loops that have not reported by then are not waited for.
        var end: Mono
        /// Its connection has ended.
        var isForgotten = false

        /// Whether every loop has reported, except those in `stalled`.
        func isComplete(without stalled: LoopSet) -> Bool {
            reports.enumerated().allSatisfy { loop, report in
                report != nil || stalled.contains(loop)
            }
        }
    }

    /// By loop: its last report.
    private var lastReports: [LoopReport] = []

    /// How long the reports of loops are waited for.
    static let waitMilliseconds: UInt64 = 1_000

    /// When loops are not waited for any longer.
    var deadline: Mono? { asked?.end }

    /// Whether a question can be asked now.
    var isWaiting: Bool { asked == nil && first < waiting.count }

    mutating func append(_ question: Question) {
        waiting.append(question)
    }

    /// Takes the next question, for which `loopCount` loops will be asked; and its number.
    mutating func next(
        askedOf loopCount: Int, at now: Mono
    ) -> (question: Question, number: UInt64)? {
        guard isWaiting else { return nil }
        lastNumber += 1
        let question = waiting[first]
        first += 1
        if first == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            first = 0
        }
        asked = Asked(
            question: question, number: lastNumber,
            reports: Array(repeating: nil, count: loopCount),
            end: now.advanced(byMilliseconds: Self.waitMilliseconds))
        return (question, lastNumber)
    }

    /// Takes a loop's report. Returns the question and all reports once every loop has reported,
    /// except those in `stalled`; nothing for a report that comes too late.
    mutating func add(
        _ report: LoopReport, for number: UInt64, without stalled: LoopSet = []
    ) -> (question: Question, reports: [LoopReport])? {
        precondition(number <= lastNumber, "a report that was not asked for")
        guard asked?.number == number else { return nil }
        asked?.reports[report.loop] = report
        guard let complete = asked, complete.isComplete(without: stalled) else { return nil }
        return end(complete)
    }

    /// Ends the wait for loops that have not reported in time, or if only loops in `stalled` have
    /// not. Returns the question, and what they have measured last.
    mutating func giveUpWaiting(
        at now: Mono, without stalled: LoopSet = []
    ) -> (question: Question, reports: [LoopReport])? {
        guard let late = asked, late.end <= now || late.isComplete(without: stalled) else {
            return nil
        }
        return end(late)
    }

    private mutating func end(
        _ complete: Asked
    ) -> (question: Question, reports: [LoopReport])? {
        asked = nil
        let reports = complete.reports.enumerated().map { loop, report -> LoopReport in
            if let report { return report }
            var old = LoopReport(loop: loop)
            // Counters must not decrease.
            if loop < lastReports.count { old.measured = lastReports[loop].measured }
            old.measured.isStale = true
            return old
        }
        lastReports = reports
        return complete.isForgotten ? nil : (complete.question, reports)
    }

    /// Forgets the question of a connection that has ended; it has one at most.
    mutating func forget(_ connection: ConnectionID) {
        if asked?.question.connection == connection {
            asked?.isForgotten = true
        } else if let place = waiting[first...].firstIndex(where: { $0.connection == connection }) {
            waiting.remove(at: place)
        }
    }
}
