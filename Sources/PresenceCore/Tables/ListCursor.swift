/// The progress of a list of states that is sent in pieces, in the order of the topics.
///
/// An event of a topic that the list has passed is delivered. One of a topic that is still to come
/// is left out: the state that is listed later includes it. So nothing is lost between the list and
/// the stream, nothing older follows something newer, and a list of any length costs one frame of
/// memory. Login lists and the snapshots of feed readers follow this rule.
public struct ListCursor: Hashable, Sendable {
    /// The first topic that is still to come; the maximum: none is.
    private(set) var next: UInt32

    /// No topic has been listed yet.
    public static let start = ListCursor(next: 0)
    /// All topics have been listed, or there is no list.
    public static let complete = ListCursor(next: .max)

    /// The topics before this one have been listed.
    public static func before(_ topic: TopicHandle) -> ListCursor { ListCursor(next: topic.index) }

    /// Whether the list is complete.
    public var isComplete: Bool { self == .complete }

    /// Whether events of this topic are delivered.
    public func covers(_ topic: TopicHandle) -> Bool { topic.index < next }

    /// Moves on to the topic with this number; nil: the list is complete.
    mutating func advance(to topic: UInt32?) {
        precondition(topic.map { $0 >= next } ?? true, "a list that goes back")
        self = topic.map { ListCursor(next: $0) } ?? .complete
    }
}
