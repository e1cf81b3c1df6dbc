import PresenceCore

/// The questions that XMPP clients have asked each other and that have no answer yet, by the slot
/// of the client that has asked. Their answers are handed on whatever others have sent it.
struct RelayedQuestions {
    private struct Question: Equatable {
        /// Whose answer it is.
        let asked: ConnectionID
        /// Of the id of the iq.
        let hash: Int
    }

    private var questions: [UInt32: [Question]] = [:]

    /// Of one client; beyond, the oldest is forgotten.
    static let countMax = 512

    /// A client has asked another.
    mutating func add(_ id: [UInt8], from asker: ConnectionID, to asked: ConnectionID) {
        var list = questions.removeValue(forKey: asker.slot) ?? []
        if list.count == Self.countMax { list.removeFirst() }
        list.append(Question(asked: asked, hash: id.hashValue))
        questions[asker.slot] = list
    }

    /// Takes the question that an iq answers. Returns whether there is one.
    mutating func take(_ id: [UInt8], from asker: ConnectionID, to asked: ConnectionID) -> Bool {
        guard var list = questions[asker.slot],
            let place = list.firstIndex(of: Question(asked: asked, hash: id.hashValue))
        else { return false }
        list.remove(at: place)
        questions[asker.slot] = list.isEmpty ? nil : list
        return true
    }

    /// The connection in a slot is gone.
    mutating func remove(_ slot: UInt32) {
        if !questions.isEmpty { questions[slot] = nil }
    }
}
