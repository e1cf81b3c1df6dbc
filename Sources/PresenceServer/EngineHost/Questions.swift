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
        var reports: [LoopReport] = []
        var loopsLeft: Int
        /// Its connection has ended.
        var isForgotten = false
    }

    /// Whether a question can be asked now.
    var isWaiting: Bool { asked == nil && first < waiting.count }

    mutating func append(_ question: Question) {
        waiting.append(question)
    }

    /// Takes the next question, for which so many loops will be asked; and its number.
    mutating func next(askedOf loopCount: Int) -> (question: Question, number: UInt64)? {
        guard isWaiting else { return nil }
        lastNumber += 1
        let question = waiting[first]
        first += 1
        if first == waiting.count {
            waiting.removeAll(keepingCapacity: true)
            first = 0
        }
        asked = Asked(question: question, number: lastNumber, loopsLeft: loopCount)
        return (question, lastNumber)
    }

    /// Takes a loop's report. Returns the question and all reports once they are complete.
    mutating func add(
        _ report: LoopReport, for number: UInt64
    ) -> (question: Question, reports: [LoopReport])? {
        precondition(asked?.number == number, "a report that was not asked for")
        asked?.reports.append(report)
        asked?.loopsLeft -= 1
        guard let complete = asked, complete.loopsLeft == 0 else { return nil }
        asked = nil
        return complete.isForgotten ? nil : (complete.question, complete.reports)
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
