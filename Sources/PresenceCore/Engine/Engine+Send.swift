// Messages are checked and recorded here, and added to the boxes of their recipients when the store
// has committed them: an answered message waits, whatever happens. Their contents are passed to the
// store and not kept.
//
// Nothing tells a client whether a recipient exists, is online or has read: a message for an
// unknown account waits like any other.

import Containers

extension Engine {
    /// Has a message stored for all its recipients, or for none.
    mutating func send(
        _ send: Send, from name: ByteRange?, _ texts: TextSource, of request: AuthorisedCommand,
        at now: Moment, into effects: inout Effects
    ) throws(Refusal) {
        do throws(Refusal) {
            try accept(send, from: name, texts, of: request, at: now, into: &effects)
        } catch {
            noteRefused(error.reason)
            throw error
        }
    }

    private mutating func noteRefused(_ reason: Refusal.Reason) {
        guard MessageStats.refusalReasons.contains(reason) else { return }
        messageStats.refused[reason, default: 0] += 1
    }

    private mutating func accept(
        _ send: Send, from name: ByteRange?, _ texts: TextSource, of request: AuthorisedCommand,
        at now: Moment, into effects: inout Effects
    ) throws(Refusal) {
        let sender = try sender(name, texts, of: request)
        let isClient = request.isOfClient
        let accountsMax = settings.limits.accountsPerSendMax
        guard !isClient || send.accounts.count <= accountsMax else {
            throw Refusal(.tooMany, field: .accounts, limit: accountsMax)
        }
        let accounts = try intern(send.accounts, texts)
        try checkSendPace(of: sender, count: accounts.count, at: now)
        let admitted = try admit(sender, to: accounts, isClient: isClient, into: &effects)
        let bytes =
            Int(send.body.count) + Int(send.ext?.count ?? 0) + Int(send.ref?.count ?? 0)
            + (send.stanza?.byteCount ?? 0)
        let amount = MessageAmount(count: 1, byteCount: max(bytes, WaitingMessage.byteCountMin))
        try checkRoom(for: amount, of: isClient ? sender : nil, to: admitted, into: &effects)
        try spendOfStrangers(on: admitted, at: now.mono, into: &effects)

        let message = MessageID(number: sequence.next())
        let expiry = now.expiry(afterSeconds: send.expirySeconds)
        let recipients = handingOver(send, to: admitted, texts)
        for recipient in recipients {
            inboxes.reserve(
                amount, for: recipient.account, of: sender?.index ?? none,
                isOfStranger: recipient.isOfStranger)
        }
        let pending = PendingSend(
            message: message, connection: request.connection, sender: sender?.index ?? none,
            requested: now, expiry: expiry, amount: amount, recipients: recipients,
            device: (send.device ?? send.preferredDevice).map { texts.bytes($0) },
            isPreference: send.device == nil, isOfAppServer: !isClient,
            accounts: hold(accounts[0], accounts.dropFirst() + (sender.map { [$0] } ?? [])))
        let record = MessageRecord(
            message: message, sender: sender,
            senderDevice: deviceName(of: request, into: &effects), time: now.wall,
            expires: expiry.wall, body: effects.copy(texts.bytes(send.body)),
            ext: send.ext.map { effects.copy(texts.bytes($0)) },
            ref: send.ref.map { effects.copy(texts.bytes($0)) },
            stanza: send.stanza?.map { effects.copy(texts.bytes($0)) },
            recipients: recipients.map {
                MessageRecord.Recipient(
                    account: $0.account, isOfStranger: $0.isOfStranger, handOver: $0.handOver)
            },
            device: send.device.map { effects.copy(texts.bytes($0)) }, byteCount: amount.byteCount)
        let ticket = inFlight.nextTicket()
        sendsInFlight.add(pending, ticket)
        effects.persist(.putMessage(record), ticket: ticket)
    }

    /// Draws a number for each recipient that no session is there of.
    private mutating func handingOver(
        _ send: Send, to recipients: [PendingSend.Recipient], _ texts: TextSource
    ) -> [PendingSend.Recipient] {
        let device = send.device.map { texts.bytes($0) }
        let preferred = send.preferredDevice.map { texts.bytes($0) }
        return recipients.map { recipient in
            var recipient = recipient
            if let reason = reasonForHandOver(
                to: recipient.account, only: device, preferring: preferred)
            {
                recipient.handOver = HandOver(number: sequence.next(), reason: reason)
            }
            return recipient
        }
    }

    /// Who writes: a client's own account, the one that an app server names, or the service.
    private mutating func sender(
        _ name: ByteRange?, _ texts: TextSource, of request: AuthorisedCommand
    ) throws(Refusal) -> AccountHandle? {
        if case .client(_, let own) = request.caller { return own }
        guard let name else { return nil }
        return try intern(name, texts)
    }

    private func deviceName(
        of request: AuthorisedCommand, into effects: inout Effects
    ) -> ByteRange? {
        guard case .client(let session, _) = request.caller else { return nil }
        return effects.copy(sessions[session].device, from: strings)
    }

    /// A message for each recipient counts as a publish; at most the burst, or it would never be
    /// accepted.
    private mutating func checkSendPace(
        of sender: AccountHandle?, count: Int, at now: Moment
    ) throws(Refusal) {
        guard let sender, let pace = settings.publishPace,
            let wait = accounts[Int(sender.index)].publishes.take(
                pace, count: min(count, pace.burst), at: now.mono)
        else { return }
        throw .tooOften(waitMilliseconds: wait)
    }

    /// The recipients, if all of them take messages of the sender.
    ///
    /// What an app server sends is for all.
    private mutating func admit(
        _ sender: AccountHandle?, to accounts: [AccountHandle], isClient: Bool,
        into effects: inout Effects
    ) throws(Refusal) -> [PendingSend.Recipient] {
        var recipients: [PendingSend.Recipient] = []
        recipients.reserveCapacity(accounts.count)
        let start = effects.names.count
        for account in accounts {
            let isStranger = isClient && sender.map { !areRelated(account, $0) } ?? false
            if isStranger, let sender, !mayWrite(to: account, sender) {
                effects.names.append(effects.copyName(of: account.index, from: self))
            }
            recipients.append(PendingSend.Recipient(account: account, isOfStranger: isStranger))
        }
        try reject(Refusal(.notPermitted, field: .accounts), from: start, effects)
        return recipients
    }

    private func checkRoom(
        for message: MessageAmount, of sender: AccountHandle?,
        to recipients: [PendingSend.Recipient], into effects: inout Effects
    ) throws(Refusal) {
        let limits = settings.limits
        let byStrangers = recipients.count { $0.isOfStranger }
        guard
            inboxes.amount.byteCount + message.byteCount * recipients.count
                <= limits.messageBytesInAllMax,
            byStrangers == 0
                || inboxes.bytesOfStrangers + message.byteCount * byStrangers
                    <= limits.messageBytesInAllMax / 2
        else {
            throw Refusal(.overloaded, retryAfterSeconds: 60)
        }
        guard sendsInFlight.byteCount + message.byteCount <= SendsInFlight.byteCountMax else {
            throw Refusal(.overloaded, retryAfterSeconds: 1)
        }
        if let sender {
            let before = inboxes.sent(by: sender)
            let after = before + message * recipients.count
            guard after.count <= limits.messagesPerSenderMax else {
                throw Refusal(
                    .senderQuota, limit: limits.messagesPerSenderMax, count: before.count)
            }
            guard after.byteCount <= limits.messageBytesPerSenderMax else {
                throw Refusal(
                    .senderQuota, field: .body, limit: limits.messageBytesPerSenderMax,
                    count: before.byteCount)
            }
        }
        let start = effects.names.count
        var isFullOfBytes = true
        for recipient in recipients {
            guard
                let full = inboxes[recipient.account].lacks(
                    message, isOfStranger: recipient.isOfStranger,
                    limit: limits.messagesPerAccount)
            else { continue }
            if full == .count { isFullOfBytes = false }
            effects.names.append(effects.copyName(of: recipient.account.index, from: self))
        }
        let full =
            isFullOfBytes
            ? Refusal(.inboxFull, field: .body, limit: limits.messageBytesPerAccountMax)
            : Refusal(.inboxFull, field: .accounts, limit: limits.messagesPerAccountMax)
        try reject(full, from: start, effects)
    }

    /// Counts a message for those recipients that the sender is a stranger to, or rejects it if
    /// strangers write to one of them too often. The last check: what is rejected is not counted.
    ///
    /// The limit is of all strangers together, and holds also if the recipient takes at once.
    private mutating func spendOfStrangers(
        on recipients: [PendingSend.Recipient], at now: Mono, into effects: inout Effects
    ) throws(Refusal) {
        guard let pace = settings.strangerPace else { return }
        let start = effects.names.count
        var longest: UInt64 = 0
        for recipient in recipients where recipient.isOfStranger {
            let number = recipient.account.index
            guard let wait = strangerPaces.wait(of: historyAccount(number), pace, at: now) else {
                continue
            }
            longest = max(longest, wait)
            effects.names.append(effects.copyName(of: number, from: self))
        }
        guard longest == 0 else {
            var refusal = Refusal.tooOften(waitMilliseconds: longest)
            refusal.field = .accounts
            refusal.failed = start..<effects.names.count
            throw refusal
        }
        for recipient in recipients where recipient.isOfStranger {
            _ = strangerPaces.take(
                for: historyAccount(recipient.account.index), pace, at: now)
        }
    }

    /// Rejects a send because of the recipients whose names are in `effects.names` from `start` on,
    /// if there are any.
    private func reject(
        _ refusal: Refusal, from start: Int, _ effects: borrowing Effects
    ) throws(Refusal) {
        let failed = start..<effects.names.count
        guard !failed.isEmpty else { return }
        var refusal = refusal
        refusal.failed = failed
        throw refusal
    }

    // MARK: What the store says

    /// A message is durable: it waits, and sessions are sent it.
    mutating func applySend(_ send: PendingSend, at now: Moment, into effects: inout Effects) {
        var reached = 0
        for (place, recipient) in send.recipients.enumerated() {
            let device = device(of: send, for: recipient.account)
            let message = WaitingMessage(
                id: send.message, expires: send.expiry.mono, sender: send.sender,
                byteCount: UInt32(send.amount.byteCount), place: UInt16(place),
                isOfStranger: recipient.isOfStranger, device: device,
                isPreference: device != .none && send.isPreference,
                handOver: recipient.handOver.map { .done($0) } ?? handOverDue(at: now))
            add(message, for: recipient.account)
            note(message, for: recipient.account, at: send.requested.wall)
            if let handOver = recipient.handOver {
                noteHandOver(handOver, of: message.key, for: recipient.account)
            }
            if fetchForReaders(of: recipient.account, message, into: &effects) { reached += 1 }
        }
        effects.answer(
            send.connection,
            .sent(
                Sent(
                    message: send.message, time: send.requested.wall, expires: send.expiry.wall,
                    recipients: send.recipients.count,
                    reached: send.isOfAppServer ? reached : nil)))
        release(send.accounts)
    }

    /// The device that a message is for. A preference for one that is not sent messages is none.
    private mutating func device(of send: PendingSend, for account: AccountHandle) -> SlabRef {
        guard let device = send.device,
            !send.isPreference || reader(of: account, on: device) != nil
        else { return .none }
        return strings.insert(device.span)
    }

    /// Adds a message that has a place, and sees to its expiry and hand-over.
    mutating func add(_ message: WaitingMessage, for account: AccountHandle) {
        inboxes.insert(message, for: account)
        messageStats.stored += 1
        expectExpiry(ofMessagesFor: account, at: message.deadline)
    }

    /// A message could not be stored. Nothing has changed.
    mutating func cancelSend(_ send: PendingSend, into effects: inout Effects) {
        noteRefused(.storeUnavailable)
        effects.items.append(.refuse(send.connection, Refusal(.storeUnavailable)))
        for recipient in send.recipients {
            inboxes.release(
                send.amount, for: recipient.account, of: send.sender,
                isOfStranger: recipient.isOfStranger)
        }
        release(send.accounts)
    }
}
