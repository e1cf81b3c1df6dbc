import Containers
import Outboxes
import PresenceCore

extension ConnectionTable {
    /// Asserts what costs O(1), also in release.
    public func assertConsistent() {
        precondition(bytesBlocked >= 0 && bytesHeldBack >= 0, "bytes counted twice")
        precondition(unshared.isEmpty, "receivers of an event that were not looked at")
    }

    /// Traps unless the table's parts agree with each other. O(connections).
    public func checkInvariants() {
        assertConsistent()
        var blocked = 0
        var heldBack = 0
        let waiting = Set(dirty.waiting)
        precondition(waiting.count == dirty.count, "a slot that waits twice")
        // This list may also have the slot of a connection that has ended; that does no harm.
        let resumable = Set(resumable.light.waiting).union(resumable.heavy.waiting)
        for (slot, connection) in slots.enumerated() {
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
            let blocked = slots[Int(reader.slot)].output.blocked
            precondition(blocked?.slowPlace == UInt32(place), "a slow reader's place")
        }
    }

    private func check(_ connection: Connection) {
        switch connection.phase {
        case .free:
            checkUnused(connection)
        case .anonymous:
            precondition(connection.deadline.isSet, "no time to log in")
            precondition(!connection.list.isConflated, "events before the login")
        case .serving:
            precondition(connection.silence.deadline.isSet, "its silence is not watched")
        case .ending:
            precondition(connection.deadline.isSet, "no time to take the rest")
        case .closing:
            precondition(!connection.list.canAsk, "closed in a list")
        }
    }

    /// A slot without a connection is as a new one.
    private func checkUnused(_ connection: Connection) {
        precondition(!connection.input.isResumable, "a free slot that is used")
        precondition(connection.peer == .client, "a free slot that is counted")
        precondition(connection.variant == .plain, "a free slot that has decided on a variant")
        precondition(!connection.list.canAsk, "a free slot in a list")
        precondition(connection.output.outbox.isEmpty, "a free outbox")
        precondition(!connection.output.isBlocked, "a free socket that is blocked")
        let timers = [connection.deadline, connection.silence.deadline, connection.token.deadline]
        precondition(timers.allSatisfy { !$0.isSet }, "a deadline of no connection")
    }
}
