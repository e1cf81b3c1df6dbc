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
        let waiting = Set(dirty.waiting)
        precondition(waiting.count == dirty.count, "a slot that waits twice")
        // This list may also have the slot of a connection that has ended; that does no harm.
        let resumable = Set(resumable.light.waiting).union(resumable.heavy.waiting)
        for (slot, connection) in connections.enumerated() {
            check(connection)
            blocked += connection.output.bytesPending
            heldBack += connection.output.bytesHeldBack
            precondition(
                connection.output.isDirty == waiting.contains(UInt32(slot)),
                "marked and not in the queue, or the other way round")
            precondition(
                !connection.input.isResumable || resumable.contains(UInt32(slot)),
                "resumable and not in the list")
        }
        precondition(blocked == bytesBlocked, "miscounted bytes that are blocked")
        precondition(heldBack == bytesHeldBack, "miscounted bytes that are held back")
        for (place, reader) in slow.enumerated() {
            let blocked = connections[Int(reader.slot)].output.blocked
            precondition(blocked?.slowPlace == UInt32(place), "a slow reader's place")
        }
    }

    private func check(_ connection: Connection) {
        switch connection.phase {
        case .free:
            checkUnused(connection)
        case .anonymous:
            precondition(connection.deadline.isSet, "no time to log in")
            precondition(!connection.pulling.isConflated, "events before the login")
        case .serving:
            precondition(connection.silence.deadline.isSet, "its silence is not watched")
        case .ending:
            precondition(connection.deadline.isSet, "no time to take the rest")
            let isWaiting = connection.input.awaiting != nil || connection.pulling.isListing
            precondition(isWaiting, "nothing to do")
        case .closing:
            precondition(connection.input.awaiting == nil, "closed while it waits")
            precondition(!connection.pulling.canAsk, "closed in a list")
        }
    }

    /// A slot without a connection is as a new one.
    private func checkUnused(_ connection: Connection) {
        let hasInput = connection.input.awaiting != nil || connection.input.isResumable
        precondition(!hasInput, "a free slot that is used")
        precondition(connection.peer == .client, "a free slot that is counted")
        precondition(!connection.pulling.canAsk, "a free slot in a list")
        precondition(connection.output.outbox.isEmpty, "a free outbox")
        precondition(!connection.output.isBlocked, "a free socket that is blocked")
        let timers = [connection.deadline, connection.silence.deadline, connection.token.deadline]
        precondition(timers.allSatisfy { !$0.isSet }, "a deadline of no connection")
    }
}
