import Containers
import Outboxes
import PresenceCore

// What must hold between the loop's tables. What costs O(1) is asserted at the entries of a
// turn, also in release; the rest is for tests.

extension ConnectionLoop where Link: ~Copyable {
    /// Asserts what holds whenever the loop calls, and when it is given control back.
    func assertAtRest() {
        precondition(outbound.isEmpty, "output that was not carried out")
        precondition(bytesBlocked >= 0 && bytesHeldBack >= 0, "bytes counted twice")
    }

    /// Asserts what holds at the end of a turn besides.
    func assertTurnEnded() {
        assertAtRest()
        precondition(inbound.isEmpty, "input that the engine host was not handed")
    }

    /// Traps unless the tables agree with each other, at the end of a turn. O(connections).
    func checkInvariants() {
        assertTurnEnded()
        var blocked = 0
        var heldBack = 0
        // A list may also have the slot of a connection that has ended; that does no harm.
        let dirty = Set(dirty)
        let resumable = Set(resumable)
        for (slot, connection) in connections.enumerated() {
            check(connection)
            blocked += connection.bytesPending
            heldBack += connection.bytesHeldBack
            precondition(
                !connection.state.contains(.isDirty) || dirty.contains(UInt32(slot)),
                "marked and not in the list")
            precondition(
                !connection.state.contains(.isResumable) || resumable.contains(UInt32(slot)),
                "resumable and not in the list")
        }
        precondition(blocked == bytesBlocked, "miscounted bytes that are blocked")
        precondition(heldBack == bytesHeldBack, "miscounted bytes that are held back")
        for (place, reader) in slow.enumerated() {
            precondition(connections[Int(reader.slot)].slowPlace == place, "a slow reader's place")
        }
    }

    private func check(_ connection: Connection) {
        let state = connection.state
        switch connection.phase {
        case .free:
            precondition(state.isEmpty && connection.awaiting == nil, "a free slot that is used")
            precondition(connection.outbox.isEmpty, "a free outbox")
            precondition(!connection.deadline.isSet, "a deadline of no connection")
            precondition(!connection.progressDeadline.isSet, "a deadline of no connection")
            precondition(!connection.tokenDeadline.isSet, "a deadline of no connection")
            precondition(!connection.silenceDeadline.isSet, "a deadline of no connection")
        case .anonymous:
            precondition(connection.deadline.isSet, "no time to log in")
            precondition(!state.contains(.isConflated), "events before the login")
        case .serving:
            precondition(connection.silenceDeadline.isSet, "its silence is not watched")
        case .ending:
            precondition(connection.deadline.isSet, "no time to take the rest")
            precondition(connection.awaiting != nil || state.contains(.isListing), "nothing to do")
        case .closing:
            precondition(connection.awaiting == nil, "closed while it waits")
            precondition(state.isDisjoint(with: [.isListing, .isFeedReader]), "closed in a list")
        }
        if connection.bytesPending > 0 {
            precondition(state.contains(.isBlocked), "bytes pending, socket not blocked")
            precondition(connection.slowPlace != .max, "a slow reader that is not listed")
        }
        precondition(
            state.contains(.isConflated) || !state.contains(.hasMissed), "missed while it keeps up")
    }
}
