/// Counters by kind, for metrics: arrays by raw value, so that counting is an add.
public struct Tallies: Sendable {
    /// Events since startup, by `Cause.rawValue`.
    private var eventsByCause = [Int](repeating: 0, count: Cause.allCases.count)
    /// Changes of directions of relationships since startup, by `RelationWord.rawValue`.
    private var relationChanges = [Int](repeating: 0, count: RelationWord.allCases.count)
    /// Events that sessions missed because they did not keep up; the newest states followed.
    public internal(set) var eventsConflated = 0
    /// Times that a session stopped keeping up.
    public internal(set) var sessionsConflated = 0
    /// Sessions now, by the raw value of their phase.
    private var sessionsByPhase = [Int](repeating: 0, count: Session.Phase.allCases.count)

    /// All zero.
    public init() {}

    /// The number of events with this cause.
    public func events(_ cause: Cause) -> Int { eventsByCause[Int(cause.rawValue)] }

    /// How often a direction of a relationship has changed by this word.
    public func relationChanges(_ word: RelationWord) -> Int {
        relationChanges[Int(word.rawValue)]
    }

    /// The number of sessions in this state now.
    public func sessions(_ connection: SessionEntry.Connectedness) -> Int {
        Session.Phase.allCases.reduce(0) { sum, phase in
            phase.connectedness == connection ? sum + sessionsByPhase[Int(phase.rawValue)] : sum
        }
    }

    mutating func count(_ cause: Cause) {
        eventsByCause[Int(cause.rawValue)] += 1
    }

    mutating func count(_ word: RelationWord) {
        relationChanges[Int(word.rawValue)] += 1
    }

    mutating func enter(_ phase: Session.Phase) {
        sessionsByPhase[Int(phase.rawValue)] += 1
    }

    mutating func leave(_ phase: Session.Phase) {
        precondition(sessionsByPhase[Int(phase.rawValue)] > 0, "no session is in this phase")
        sessionsByPhase[Int(phase.rawValue)] -= 1
    }
}
