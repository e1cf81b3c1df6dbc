// Copies of what an account has sent, for its other sessions that have asked for them. They are
// sent behind the commit, in the order of the messages, and never stored: a session that does not
// keep up misses them, and is sent their number with the next.

import Containers

/// A session that is sent copies.
struct CopyReader {
    /// How many it has missed since the last that it was sent.
    var missedCount = 0
}

/// A copy of a message, for sessions of the account that has sent it.
public struct MessageCopy: Hashable, Sendable {
    /// The recipients, in `Effects.names`; nil: devices that were selected by their labels.
    public var recipients: Range<Int>?
    /// The only device that it is for, in `Effects.bytes`; nil: it is for all of the recipients'.
    public var device: ByteRange?
    /// How many copies the receivers have missed before.
    public var missedCount: Int

    /// A copy of a message.
    public init(recipients: Range<Int>?, device: ByteRange?, missedCount: Int) {
        self.recipients = recipients
        self.device = device
        self.missedCount = missedCount
    }
}

extension Engine {
    /// Has a session be sent copies from now on, or not any more.
    mutating func setCopies(
        _ areSent: Bool, to client: ClientSession, into effects: inout Effects
    ) {
        let reader = areSent ? copyReaders[client.session] ?? CopyReader() : nil
        copyReaders[client.session] = reader
        effects.answer(client.connection, .done)
    }

    /// Whether the session of a connection is sent copies.
    public func isSentCopies(_ connection: ConnectionID) -> Bool {
        guard case .client(let session, _) = caller(of: connection) else { return false }
        return copyReaders[session] != nil
    }

    /// Whether a session of an account is sent copies of what it sends.
    private func hasCopyReader(_ account: AccountHandle, besides sender: UInt32?) -> Bool {
        !copyReaders.isEmpty
            && allSessions(of: account).contains { $0 != sender && copyReaders[$0] != nil }
    }

    /// Sends copies of a message that is durable to the other sessions of its sender.
    mutating func copy(_ send: PendingSend, under ticket: Ticket, into effects: inout Effects) {
        guard send.isCopied, send.sender != none, settings.messages == .on else { return }
        let sender = AccountHandle(index: send.sender)
        // Of a client whose connection has ended meanwhile, no session is left out.
        var author: UInt32?
        if case .client(let session, _) = caller(of: send.connection) { author = session }
        guard hasCopyReader(sender, besides: author) else { return }
        var copy = MessageCopy(recipients: nil, device: nil, missedCount: 0)
        if !send.isByLabels {
            let start = effects.names.count
            for recipient in send.recipients {
                effects.names.append(effects.copyName(of: recipient.account.index, from: self))
            }
            copy.recipients = start..<effects.names.count
            if case .only(let device)? = send.recipients.first?.target {
                copy.device = effects.copy(device)
            }
        }
        // Those that have missed copies before are sent their own number.
        let start = effects.receivers.count
        var behind: [(slot: UInt32, missedCount: Int)] = []
        for session in allSessions(of: sender) where session != author {
            guard let reader = copyReaders[session], let connection = connectionID(of: session)
            else { continue }
            copyReaders[session]?.missedCount = 0
            messageStats.copies += 1
            if reader.missedCount == 0 {
                effects.receivers.append(connection.slot)
            } else {
                behind.append((connection.slot, reader.missedCount))
            }
        }
        add(copy, under: ticket, from: start, into: &effects)
        for (slot, missedCount) in behind {
            let start = effects.receivers.count
            effects.receivers.append(slot)
            copy.missedCount = missedCount
            add(copy, under: ticket, from: start, into: &effects)
        }
    }

    private func add(
        _ copy: MessageCopy, under ticket: Ticket, from start: Int, into effects: inout Effects
    ) {
        guard effects.receivers.count > start else { return }
        effects.items.append(
            .copy(
                ticket, index: effects.copies.count,
                receivers: start..<effects.receivers.count))
        effects.copies.append(copy)
    }

    /// A connection was not sent a copy, since it does not keep up. `count` includes the copies
    /// that it has missed before.
    public mutating func missedCopies(_ count: Int, by connection: ConnectionID) {
        messageStats.copiesMissed += 1
        guard case .client(let session, _) = caller(of: connection) else { return }
        copyReaders[session]?.missedCount += count
    }
}
