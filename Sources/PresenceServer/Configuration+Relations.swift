// Relations between limits. Each limit has a range of its own, which the command checks.

import PresenceCore

extension Configuration {
    /// What must hold between limits.
    public enum Relation: CaseIterable, Sendable {
        /// The shortest expiry of a subscription, and the longest.
        case subscriptionExpiry
        /// The shortest expiry of a status, and the default.
        case statusExpiryMin
        /// The default expiry of a status, and the longest.
        case statusExpiryMax
        /// The default length of a page, and the largest.
        case pageEntries
        /// The lowest custom type, and the highest.
        case customTypes
        /// The lowest custom value, and the highest.
        case customValues
        /// The size of a frame before login, and after it.
        case frames
        /// The size of an outbox, and of all together.
        case outboxes
        /// A full outbox and one answer fit into the backlog.
        case backlog
        /// One state with all its sessions fits into a frame.
        case states
        /// One message fits into a frame.
        case messages
    }

    /// Whether a relation holds.
    public func satisfies(_ relation: Relation) -> Bool {
        let limits = engine.limits
        return switch relation {
        case .subscriptionExpiry:
            limits.subscriptionExpirySecondsMin <= limits.subscriptionExpirySecondsMax
        case .statusExpiryMin:
            limits.statusExpirySecondsMin <= limits.statusExpirySecondsDefault
        case .statusExpiryMax:
            limits.statusExpirySecondsDefault <= limits.statusExpirySecondsMax
        case .pageEntries: limits.pageEntriesDefault <= limits.pageEntriesMax
        case .customTypes: limits.customTypeMin <= limits.customTypeMax
        case .customValues: limits.customValueMin <= limits.customValueMax
        case .frames: limits.frameBytesBeforeLoginMax <= limits.frameBytesMax
        case .outboxes: connection.outboxBytesMax <= connection.outboxBytesInAllMax
        case .backlog:
            connection.backlogBytesMax >= connection.outboxBytesMax + limits.serverFrameBytesMax
        case .states: limits.serverFrameBytesMax >= limits.stateBytesMax
        case .messages: limits.serverFrameBytesMax >= limits.deliveredMessageBytesMax
        }
    }

    /// Traps unless every relation holds. The command rejects settings that do not satisfy them.
    func checkRelations() {
        for relation in Relation.allCases {
            precondition(satisfies(relation), "limits that contradict each other: \(relation)")
        }
    }
}

extension Limits {
    /// The maximum size of one state on the wire. An escaped byte becomes six; a text appears in
    /// the event and in the status.
    fileprivate var stateBytesMax: Int {
        1_024 + 2 * 6 * extBytesMax + 6 * accountBytesMax
            + (sessionsPerAccountMax + 1) * (64 + 6 * deviceBytesMax)
            + sessionsPerAccountMax * (60 + 6 * availabilityTextBytesMax)
    }

    /// The maximum size of the notification with one message.
    fileprivate var deliveredMessageBytesMax: Int {
        512 + 6 * (messageBytesMax + accountBytesMax + deviceBytesMax + refBytesMax)
    }
}
