import Containers
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
    private var waiting = Queue<Question>()
    private var asked: Asked?
    private var lastNumber: UInt64 = 0

    /// The question that the loops have been asked for.
    private struct Asked {
        var question: Question
        var number: UInt64
        /// By loop.
        var reports: [LoopReport?]
        /// Loops that were stalled then.
        let notAsked: LoopSet
        /// Its connection has ended.
        var isForgotten = false

        /// Whether every loop has reported, except those in `stalled`.
        func isComplete(without stalled: LoopSet) -> Bool {
            reports.enumerated().allSatisfy { loop, report in
                report != nil || notAsked.contains(loop) || stalled.contains(loop)
            }
        }
    }

    /// By loop: its last report.
    private var lastReports: [LoopReport] = []

    /// Whether a question can be asked now.
    var isWaiting: Bool { asked == nil && !waiting.isEmpty }

    mutating func append(_ question: Question) {
        waiting.append(question)
    }

    /// Takes the next question, for which `loopCount` loops will be asked, except those in
    /// `stalled`; and its number.
    mutating func next(
        askedOf loopCount: Int, without stalled: LoopSet = []
    ) -> (question: Question, number: UInt64)? {
        guard asked == nil, let question = waiting.popFirst() else { return nil }
        lastNumber += 1
        asked = Asked(
            question: question, number: lastNumber,
            reports: Array(repeating: nil, count: loopCount), notAsked: stalled)
        return (question, lastNumber)
    }

    /// Takes a loop's report. Returns the question and all reports once every loop has reported,
    /// except those in `stalled`; nothing for a report that is not waited for any more.
    mutating func add(
        _ report: LoopReport, for number: UInt64, without stalled: LoopSet = []
    ) -> (question: Question, reports: [LoopReport])? {
        precondition(number <= lastNumber, "a report that was not asked for")
        guard asked?.number == number else { return nil }
        asked?.reports[report.loop] = report
        return endIfComplete(without: stalled)
    }

    /// Ends the wait if only loops in `stalled` have not reported. Returns the question, and what
    /// they have measured last: counters must not decrease.
    mutating func endIfComplete(
        without stalled: LoopSet = []
    ) -> (question: Question, reports: [LoopReport])? {
        guard let complete = asked, complete.isComplete(without: stalled) else { return nil }
        asked = nil
        lastReports = complete.reports.enumerated().map { loop, report in
            let last = loop < lastReports.count ? lastReports[loop].measured : nil
            return report ?? LoopReport(loop: loop, measured: last ?? LoopMeasurements())
        }
        return complete.isForgotten ? nil : (complete.question, lastReports)
    }

    /// Forgets the question of a connection that has ended; it has one at most.
    mutating func forget(_ connection: ConnectionID) {
        if asked?.question.connection == connection {
            asked?.isForgotten = true
        } else {
            _ = waiting.removeFirst { $0.connection == connection }
        }
    }
}
