// What no device takes in time is handed over: it gets a number, which is stored before a reader is
// sent it. So each message is handed over once, in one order, over crashes too. A reader is a
// position in that order; what was taken meanwhile is passed over.

import Containers

extension Engine {
    /// The highest number of a hand-over so far; 0: none.
    public var lastHandOver: UInt64 { undelivered.last }

    /// About how many messages were handed over after a number and still wait: at most twice as
    /// many, and 64 more. O(log n).
    public func undeliveredCount(after number: UInt64) -> Int { undelivered.after(number).count }

    /// What was handed over after a number and still waits: at most `countMax` messages, and
    /// `bytesMax` bytes or one message. O(log n), and of those that wait no longer.
    public func undelivered(
        after number: UInt64, countMax: Int, bytesMax: Int, at now: Mono
    ) -> UndeliveredShare {
        precondition(countMax > 0, "a share of nothing")
        var share = UndeliveredShare(messages: [], upTo: max(number, undelivered.last))
        var byteCount = 0
        for entry in undelivered.after(number) {
            guard let message = inboxes.find(entry), now < message.expires,
                case .done(let handOver) = message.handOver
            else { continue }
            byteCount += Int(message.byteCount)
            if share.messages.count == countMax
                || byteCount > bytesMax && !share.messages.isEmpty
            {
                share.upTo = share.messages.last?.handOver.number ?? number
                break
            }
            let account = AccountHandle(index: entry.account)
            share.messages.append(
                UndeliveredMessage(
                    key: message.key, account: account, handOver: handOver,
                    expires: message.expires))
        }
        return share
    }

    /// How many messages wait for a message's recipient; beside one for a device alone, how many of
    /// them that device may be given. Nil: the message waits no longer. O(log n), and of the
    /// recipient's messages if it is for a device alone.
    public func waitingCount(beside message: UndeliveredMessage, at now: Mono) -> Int? {
        let entry = UndeliveredOrder.Entry(
            message.handOver, of: message.key, for: message.account)
        guard now < message.expires, let found = inboxes.find(entry) else { return nil }
        let messages = inboxes[message.account].messages
        guard let only = onlyDevice(of: found) else { return messages.count }
        return messages.count {
            $0.device == .none || $0.isPreference || strings.equals($0.device, only.span)
        }
    }

    /// Where a message may be pushed to, by name: the devices of its recipient that have labels or
    /// a push address, or a session that push reaches. Of a message for one device that one, also
    /// if nothing is known of it.
    public func pushDevices(of message: UndeliveredMessage) -> [PushDevice] {
        let account = message.account
        if let only = inboxes[account][message.key].flatMap({ onlyDevice(of: $0) }) {
            return [pushDevice(only, of: account)]
        }
        var found: [[UInt8]: PushDevice] = [:]
        for device in devices.devices(of: account) {
            found[device.name] = PushDevice(
                name: device.name, reach: .connection, labels: device.labels)
        }
        for session in allSessions(of: account) {
            let name = strings.bytes(of: sessions[session].device)
            let (client, reach) = (sessions[session].client, sessions[session].reach)
            guard reach == .push || found[name] != nil else { continue }
            let labels = found[name]?.labels ?? .none
            found[name] = PushDevice(name: name, client: client, reach: reach, labels: labels)
        }
        return found.values.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// A device, also if nothing is known of it.
    private func pushDevice(_ name: [UInt8], of account: AccountHandle) -> PushDevice {
        let session = session(of: account, on: name)
        return PushDevice(
            name: name, client: session.map { sessions[$0].client },
            reach: session.map { sessions[$0].reach } ?? .connection,
            labels: devices.labels(of: account, on: name))
    }

    /// The only device that a message is for; nil: it is for all.
    private func onlyDevice(of message: WaitingMessage) -> [UInt8]? {
        message.device == .none || message.isPreference
            ? nil : strings.bytes(of: message.device)
    }

    // MARK: Handing over

    /// Why a new message is handed over at once; nil: a session may take it, or one whose
    /// connection was lost may return and take it.
    func reasonForHandOver(
        to account: AccountHandle, _ target: MessageTarget
    ) -> UndeliveredReason? {
        switch target {
        case .any: hasReader(account) || mayReturn(account) ? nil : .absent
        case .only(let device):
            reader(of: account, on: device) != nil || mayReturn(account, on: device)
                ? nil : .absent
        case .preferring(let device):
            reader(of: account, on: device) != nil || hasReader(account) || mayReturn(account)
                ? nil : .absent
        }
    }

    /// Whether a session of an account may return within its grace, or within that of a restart,
    /// and be sent messages: those for a device, or those for any. Of sessions from before a
    /// restart it is not known whether they were sent any.
    private func mayReturn(_ account: AccountHandle, on device: [UInt8]? = nil) -> Bool {
        allSessions(of: account).contains { session in
            let isAwaited =
                switch sessions[session].phase {
                case .inGrace: sessions[session].hasRead
                case .awaitingReturn: true
                case .connected, .pushOnly, .hidden, .returning: false
                }
            guard isAwaited else { return false }
            guard let device else { return priority(of: session) >= 0 }
            return strings.equals(sessions[session].device, device.span)
        }
    }

    /// Whether a session of an account is sent messages that are for no device.
    private func hasReader(_ account: AccountHandle) -> Bool {
        guard !readers.isEmpty else { return false }
        return allSessions(of: account).contains { readers[$0] != nil && takesAny($0) }
    }

    /// When a message that is stored now is handed over.
    func handOverDue(at now: Moment) -> HandOverState {
        .due(now.mono.advanced(bySeconds: settings.pushAfterSeconds))
    }

    /// A message was handed over and that is durable.
    mutating func noteHandOver(
        _ handOver: HandOver, of message: WaitingKey, for account: AccountHandle
    ) {
        undelivered.append(
            UndeliveredOrder.Entry(handOver, of: message, for: account))
        history.noteHandOver(handOver.reason, of: message)
        messageStats.undelivered[handOver.reason, default: 0] += 1
    }

    /// Restores the hand-over of a message; the order follows when all are read.
    mutating func restore(
        _ handOver: HandOver, of message: WaitingKey, for account: AccountHandle
    ) {
        undelivered.restore(
            UndeliveredOrder.Entry(handOver, of: message, for: account))
        history.noteHandOver(handOver.reason, of: message)
    }

    /// Hands over what no device of an account has taken in time, under a ticket.
    mutating func handOverUntaken(
        of account: AccountHandle, at now: Moment, into effects: inout Effects
    ) {
        let due = inboxes[account].messages.filter { message in
            guard case .due(let time) = message.handOver else { return false }
            return time <= now.mono
        }
        guard !due.isEmpty else { return }
        let records = due.map { message in
            HandOverRecord(
                key: message.key, handOver: HandOver(number: sequence.next(), reason: .untaken))
        }
        inboxes.setHandOver(of: due.map(\.key), for: account, to: .pending)
        let ticket = inFlight.nextTicket()
        undelivered.add(
            PendingHandOver(
                account: account,
                messages: records.map { ($0.key, $0.handOver) }), ticket)
        effects.persist(.handOver(records), ticket: ticket)
    }

    /// Hand-overs are durable. What was taken meanwhile is none.
    mutating func applyHandOver(_ pending: PendingHandOver) {
        for (message, handOver) in pending.messages
        where inboxes[pending.account].contains(message) {
            inboxes.setHandOver(of: [message], for: pending.account, to: .done(handOver))
            noteHandOver(handOver, of: message, for: pending.account)
        }
    }

    /// Hand-overs could not be stored. They are tried again after as long as a device has to take a
    /// message: while the disk fails there may be one of each account.
    mutating func cancelHandOver(_ pending: PendingHandOver, at now: Moment) {
        let again = now.mono.advanced(bySeconds: settings.pushAfterSeconds)
        let left = pending.messages.map(\.message).filter {
            inboxes[pending.account].contains($0)
        }
        guard !left.isEmpty else { return }
        inboxes.setHandOver(of: left, for: pending.account, to: .due(again))
        expectExpiry(ofMessagesFor: pending.account, at: again)
    }

    /// Notes that messages wait no longer that were handed over.
    mutating func noteGone(_ messages: [WaitingMessage]) {
        let count = messages.count(where: \.wasHandedOver)
        guard count > 0, undelivered.noteGone(count) else { return }
        let boxes = inboxes
        undelivered.compact { boxes.find($0) != nil }
    }
}
