import EventLoop
import PresenceCore

/// What an XMPP client was sent of the messages for it, and how the service learns that it has
/// them. It is pure: the time is an argument.
///
/// A client is asked, by one question at a time, whose answer takes what was sent before it. Some
/// libraries answer no question. So if the first one remains without an answer, what the client's
/// kernel has acknowledged counts instead, from then on.
struct UntakenMessages {
    /// A question that waits for its answer, and the last message before it.
    struct Question {
        var kind: Kind
        var last: MessageID
        /// When to look at what the kernel has acknowledged; nil: only the answer counts.
        var lookTime: Mono?
        /// How much it must have acknowledged, once that is known.
        var bytesBefore: UInt64?
    }

    /// What a question was.
    enum Kind: Equatable {
        /// A ping with this number, or none if the client answers none: the next one has a higher
        /// number.
        case ping(UInt64)
        /// A request of stream management, behind this number of stanzas.
        case management(UInt32)
    }

    /// Whether a client answers questions.
    enum Answering: Equatable {
        /// It was not asked, or has time to answer.
        case unknown
        case answers
        case silent
    }

    /// How long a client has to answer the first question.
    static let answerSeconds = 5
    /// How often it is looked at what the kernel of a client has acknowledged.
    static let lookMilliseconds: UInt64 = 250

    /// The last message that the client was sent, if it was not asked about it.
    var last: MessageID?
    private(set) var question: Question?
    private(set) var answering = Answering.unknown

    /// What the client is to be asked about; nil: nothing, or it has not answered yet.
    var lastToAsk: MessageID? { question == nil ? last : nil }

    /// The client is asked about what it was sent. `canLook` says whether what its kernel has
    /// acknowledged may count. Returns when to look at it.
    mutating func ask(
        _ kind: Kind, about last: MessageID, canLook: Bool, at now: Mono
    ) -> Mono? {
        precondition(question == nil, "two questions at a time")
        self.last = nil
        let time: Mono? =
            switch answering {
            case .unknown: now.advanced(bySeconds: Self.answerSeconds)
            case .answers: nil
            case .silent: now.advanced(byMilliseconds: Self.lookMilliseconds)
            }
        question = Question(kind: kind, last: last, lookTime: canLook ? time : nil)
        return question?.lookTime
    }

    /// The client has answered a question of the service, perhaps an earlier one.
    mutating func noteAnswering() {
        // A silent one was not asked: nothing else would take what waits.
        if answering == .unknown { question?.lookTime = nil }
        answering = .answers
    }

    /// The client has answered the ping with this number, or one after it. Returns the last message
    /// that it takes.
    mutating func take(pingNumber: UInt64) -> MessageID? {
        guard case .ping(let number) = question?.kind, number <= pingNumber else { return nil }
        return takeQuestion()
    }

    /// The client has acknowledged stanzas: `isAcknowledged` says whether the one with a number is
    /// among them.
    mutating func take(isAcknowledged: (UInt32) -> Bool) -> MessageID? {
        guard case .management(let number) = question?.kind, isAcknowledged(number) else {
            return nil
        }
        return takeQuestion()
    }

    /// Looks at what the client's kernel has acknowledged, if it is time. Returns whether all that
    /// was sent before the question is, or when to look again; nil: it is not time.
    mutating func look(
        _ delivery: @autoclosure () -> SocketDelivery?, at now: Mono
    ) -> Look? {
        guard let time = question?.lookTime, time <= now else { return nil }
        if answering == .unknown { answering = .silent }
        let next = now.advanced(byMilliseconds: Self.lookMilliseconds)
        question?.lookTime = next
        if let delivery = delivery() {
            let bytesBefore = question?.bytesBefore ?? delivery.bytesHanded
            question?.bytesBefore = bytesBefore
            if delivery.bytesAcknowledged >= bytesBefore { return .taken }
        }
        return .again(next)
    }

    /// What was seen.
    enum Look: Equatable {
        case taken
        case again(Mono)
    }

    /// The question is answered. Returns the last message that it takes.
    mutating func takeQuestion() -> MessageID? {
        defer { question = nil }
        return question?.last
    }

    /// A message was not taken, since messages are off: the client is asked about it again.
    mutating func keep(_ message: MessageID) { last = last ?? message }
}
