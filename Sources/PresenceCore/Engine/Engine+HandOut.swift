// How sessions are sent the messages for their accounts: their contents are read from the store
// when there is room for them, and what was taken meanwhile is left out.

import Containers

extension Engine {
    /// Begins to send messages to a session that has asked for them at its login.
    mutating func beginReading(_ session: UInt32, _ login: Login) {
        guard login.messages == .on else { return }
        readers[session] = MessageReader()
    }

    /// A session has its login list: messages may follow.
    mutating func openReader(of session: UInt32, into effects: inout Effects) {
        guard readers[session] != nil else { return }
        readers[session]?.open()
        fetch(for: session, into: &effects)
    }

    /// Messages were turned on again: has sessions that have asked for them sent what waits.
    mutating func fetchForAll(into effects: inout Effects) {
        for session in Array(readers.keys).sorted() { fetch(for: session, into: &effects) }
    }

    /// Has the contents read of what a session may be sent now.
    mutating func fetch(for session: UInt32, into effects: inout Effects) {
        guard settings.messages == .on, readers[session]?.mayFetch == true,
            let connection = connectionID(of: session),
            inboxes.mention(sessions[session].account)
        else { return }
        let candidates = messages(for: session)
        guard let keys = readers[session]?.fetch(from: candidates), !keys.isEmpty else { return }
        let start = effects.messages.count
        for key in keys { effects.messages.append(key.message) }
        messageStats.fetches += 1
        effects.items.append(.fetch(connection, messages: start..<effects.messages.count))
    }

    /// Has sessions of the recipient sent a new message. Returns whether there are any.
    mutating func fetchForReaders(
        of account: AccountHandle, _ message: WaitingMessage, into effects: inout Effects
    ) -> Bool {
        guard !readers.isEmpty else { return false }
        var isReached = false
        for session in allSessions(of: account)
        where readers[session] != nil && mayGet(message, session) {
            isReached = true
            fetch(for: session, into: &effects)
        }
        return isReached
    }

    /// The contents of what a session is to be sent were read. Returns those that are to be sent,
    /// in order; `found` are those that the store has.
    ///
    /// One that waits and is not in the store is lost, and waits no longer.
    public mutating func handOut(
        _ found: [MessageID], to connection: ConnectionID, into effects: inout Effects
    ) -> [MessageID] {
        forgetRetired(after: effects)
        guard case .client(let session, let account) = caller(of: connection),
            let reader = readers[session]
        else { return [] }
        let known = Set(found)
        var handed: [MessageID] = []
        var missing: [WaitingKey] = []
        for message in inboxes[account].messages where reader.fetching.contains(message.key) {
            if known.contains(message.id) {
                // Meanwhile its priority may have changed, or messages were turned off.
                guard settings.messages == .on, mayGet(message, session) else { continue }
                readers[session]?.noteSent(message)
                history.noteSent(message.key)
                handed.append(message.id)
            } else {
                missing.append(message.key)
            }
        }
        readers[session]?.endFetch()
        messageStats.sent += handed.count
        messageStats.lost += remove(missing, for: account, .lost, into: &effects)
        fetch(for: session, into: &effects)
        return handed
    }

    /// The contents could not be read now. They are read again in a second.
    public mutating func fetchFailed(for connection: ConnectionID, at now: Moment) {
        messageStats.fetchFailures += 1
        guard case .client(let session, let account) = caller(of: connection),
            readers[session] != nil
        else { return }
        readers[session]?.endFetch()
        guard !inboxes[account].messages.isEmpty else { return }
        expectExpiry(ofMessagesFor: account, at: now.mono.advanced(bySeconds: 1))
    }

    /// Whether a session began after a message was sent.
    public func isLoggedIn(_ connection: ConnectionID, after message: MessageID) -> Bool {
        guard case .client(let session, _) = caller(of: connection) else { return false }
        return message.number < sessions[session].id.ordinal
    }

    /// The session of a device, if it is sent messages.
    func reader(of account: AccountHandle, on device: [UInt8]) -> UInt32? {
        guard !readers.isEmpty, let session = session(of: account, on: device),
            readers[session] != nil
        else { return nil }
        return session
    }

    /// A session is sent no messages any more: those that preferred its device are for all.
    mutating func endReading(_ session: UInt32, at now: Moment) {
        guard readers.removeValue(forKey: session) != nil else { return }
        let account = AccountHandle(index: sessions[session].account)
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

    /// What waits that a session may get, in order.
    private func messages(for session: UInt32) -> [WaitingMessage] {
        let account = AccountHandle(index: sessions[session].account)
        // Looked up once, however many messages prefer a device.
        var areRead: [[UInt8]: Bool] = [:]
        return inboxes[account].messages.filter { message in
            mayGet(message, session) { device in
                if let isRead = areRead[device] { return isRead }
                let isRead = reader(of: account, on: device) != nil
                areRead[device] = isRead
                return isRead
            }
        }
    }

    private func mayGet(_ message: WaitingMessage, _ session: UInt32) -> Bool {
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
