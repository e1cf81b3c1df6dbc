// How sessions are sent the messages for their accounts. One that has been sent all before is sent
// a new message behind its commit, from memory. For others contents are read from the store when
// there is room for them. A message for all devices is for every session that is connected, also
// after one has taken it; for logins to come it waits only until then.

import Containers

extension Engine {
    /// Begins to send messages to a session that has asked for them at its login.
    mutating func beginReading(_ session: UInt32, _ login: Login) {
        guard login.messages != .off else { return }
        readers[session] = MessageReader()
        if login.messages == .withCopies { copyReaders[session] = CopyReader() }
    }

    /// A session has its login list: messages may follow.
    mutating func openReader(of session: UInt32, into effects: inout Effects) {
        guard readers[session] != nil else { return }
        readers[session]?.open()
        lookAgain(for: session, into: &effects)
    }

    /// Messages were turned on again: has sessions that have asked for them sent what waits.
    mutating func fetchForAll(into effects: inout Effects) {
        for session in readers.keys.sorted() { lookAgain(for: session, into: &effects) }
    }

    /// A session may get other messages than before.
    mutating func lookAgain(for session: UInt32, into effects: inout Effects) {
        readers[session]?.lookAgain()
        fetch(for: session, into: &effects)
    }

    /// Has the contents read of what a session may be sent now.
    mutating func fetch(for session: UInt32, into effects: inout Effects) {
        guard settings.messages == .on, readers[session]?.mayFetch == true,
            let connection = connectionID(of: session)
        else { return }
        let candidates = messages(for: session)
        guard let keys = readers[session]?.fetch(from: candidates), !keys.isEmpty else { return }
        let start = effects.messages.count
        for key in keys { effects.messages.append(key.message) }
        messageStats.fetches += 1
        effects.items.append(.fetch(connection, messages: start..<effects.messages.count))
    }

    /// Has sessions of the recipient sent a new message: those that it is the next for are added to
    /// `effects.receivers`. Returns whether there are any that may get it.
    mutating func offer(
        _ message: WaitingMessage, to account: AccountHandle, into effects: inout Effects
    ) -> Bool {
        guard !readers.isEmpty else { return false }
        var isReached = false
        for session in allSessions(of: account)
        where readers[session] != nil && mayGet(message, session) {
            isReached = true
            guard settings.messages == .on, let connection = connectionID(of: session),
                readers[session]?.noteNew(message.sized) == true
            else {
                lookAgain(for: session, into: &effects)
                continue
            }
            effects.receivers.append(connection.slot)
            noteSent(message.key)
        }
        return isReached
    }

    private mutating func noteSent(_ message: WaitingKey) {
        history.noteSent(message)
        messageStats.sent += 1
    }

    /// The contents of what a session is to be sent were read. Returns those that are to be sent,
    /// in order; `found` are those that the store has.
    ///
    /// One that is not in the store is lost, and waits no longer.
    public mutating func handOut(
        _ found: [MessageID], to connection: ConnectionID, into effects: inout Effects
    ) -> [MessageID] {
        forgetRetired(after: effects)
        guard case .client(let session, let account) = caller(of: connection),
            let reader = readers[session]
        else { return [] }
        let known = Set(found)
        var handed: [WaitingKey] = []
        var missing: [WaitingKey] = []
        for key in reader.fetching {
            guard let message = message(key, for: session, of: account) else { continue }
            guard known.contains(key.message) else {
                missing.append(key)
                continue
            }
            // Meanwhile its priority may have changed, or messages were turned off.
            guard settings.messages == .on, message.isForSession else { continue }
            readers[session]?.noteSent(message.sized)
            noteSent(key)
            handed.append(key)
        }
        readers[session]?.endFetch()
        forgetOwed(handed + missing, account, session, into: &effects)
        messageStats.lost += remove(missing, for: account, .lost, into: &effects)
        fetch(for: session, into: &effects)
        return handed.map(\.message)
    }

    /// A message that waits, or that a session is still to be sent, and whether the session may get
    /// it now; nil: neither.
    private func message(
        _ key: WaitingKey, for session: UInt32, of account: AccountHandle
    ) -> (sized: SizedMessage, isForSession: Bool)? {
        if let message = inboxes[account][key] {
            return (message.sized, mayGet(message, session))
        }
        return owed.find(key, for: account, to: session).map { ($0, takesAny(session)) }
    }

    /// The contents could not be read now. They are read again in a second.
    public mutating func fetchFailed(for connection: ConnectionID, at now: Moment) {
        messageStats.fetchFailures += 1
        guard case .client(let session, let account) = caller(of: connection),
            readers[session] != nil
        else { return }
        readers[session]?.endFetch()
        guard !inboxes[account].messages.isEmpty || !owed[account].isEmpty else { return }
        expectExpiry(ofMessagesFor: account, at: now.mono.advanced(bySeconds: 1))
    }

    /// Whether a session began after a message was sent.
    public func isLoggedIn(_ connection: ConnectionID, after message: MessageID) -> Bool {
        guard case .client(let session, _) = caller(of: connection) else { return false }
        return message.number < sessions[session].id.ordinal
    }

    /// Whether messages wait to be sent to a session. O(1).
    func isBehind(_ session: UInt32) -> Bool {
        settings.messages == .on && readers[session]?.isCurrent == false
    }

    /// The session of a device, if it is sent messages.
    func reader(of account: AccountHandle, on device: [UInt8]) -> UInt32? {
        guard !readers.isEmpty, let session = session(of: account, on: device),
            readers[session] != nil
        else { return nil }
        return session
    }

    /// A session is sent no messages any more: those that preferred its device are for all.
    mutating func endReading(_ session: UInt32, at now: Moment, into effects: inout Effects) {
        copyReaders[session] = nil
        sessions[session].hasRead = readers.removeValue(forKey: session) != nil
        guard sessions[session].hasRead else { return }
        let account = AccountHandle(index: sessions[session].account)
        let removed = owed.removeAll(for: account, from: session)
        if !removed.isEmpty { effects.persist(.removeMessages(removed)) }
        // It may have had reads begin again of what sessions are still to be sent.
        if inboxes[account].messages.isEmpty, owed[account].isEmpty {
            cancelInboxTimer(of: account)
        }
        guard inboxes.mention(account.index),
            inboxes[account].messages.contains(where: \.isPreference)
        else { return }
        expectExpiry(ofMessagesFor: account, at: now.mono)
    }

    /// Whether a session is sent the number of messages that wait for it.
    func tellsWaiting(_ session: UInt32) -> Bool {
        settings.messages == .on && readers[session] != nil
    }

    /// How many messages wait that a session may get.
    func waitingCount(for session: UInt32) -> Int {
        guard readers[session] != nil else { return 0 }
        return messages(for: session).count
    }

    /// What a session may get, of what waits and of what others have taken, in order.
    private func messages(for session: UInt32) -> [SizedMessage] {
        let account = AccountHandle(index: sessions[session].account)
        // Looked up once, however many messages prefer a device.
        var areRead: [[UInt8]: Bool] = [:]
        var messages: [SizedMessage] = []
        for message in inboxes[account].messages {
            let mayGet = mayGet(message, session) { device in
                if let isRead = areRead[device] { return isRead }
                let isRead = reader(of: account, on: device) != nil
                areRead[device] = isRead
                return isRead
            }
            if mayGet { messages.append(message.sized) }
        }
        guard !owed[account].isEmpty, takesAny(session) else { return messages }
        for owed in owed[account] where owed.sessions.contains(session) {
            messages.append(owed.message)
        }
        return messages.sorted { $0.key < $1.key }
    }

    func mayGet(_ message: WaitingMessage, _ session: UInt32) -> Bool {
        let account = AccountHandle(index: sessions[session].account)
        return mayGet(message, session) { reader(of: account, on: $0) != nil }
    }

    /// Whether a session may get a message: one for its device, or for all, unless its priority is
    /// negative (RFC 6121, section 4.7.2.3) or it has not shown itself. `isRead`: a device of the
    /// account is sent messages.
    private func mayGet(
        _ message: WaitingMessage, _ session: UInt32, isRead: (_ device: [UInt8]) -> Bool
    ) -> Bool {
        if message.device != .none {
            let device = strings.bytes(of: message.device)
            if strings.equals(sessions[session].device, device.span) { return true }
            guard message.isPreference, !isRead(device) else { return false }
        }
        return takesAny(session)
    }

    /// Whether a session that reads is sent what is for no device.
    func takesAny(_ session: UInt32) -> Bool {
        sessions[session].phase == .connected && priority(of: session) >= 0
    }

    /// The priority of the device of a session.
    func priority(of session: UInt32) -> Int8 {
        let number = sessions[session].availability
        return number == none ? 0 : availabilities[number].priority
    }
}
