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
    ) throws(Rejection) {
        do throws(Rejection) {
            try accept(send, from: name, texts, of: request, at: now, into: &effects)
        } catch {
            noteRejected(error.reason)
            throw error
        }
    }

    private mutating func noteRejected(_ reason: Rejection.Reason) {
        guard MessageStats.rejectionReasons.contains(reason) else { return }
        messageStats.rejected[reason, default: 0] += 1
    }

    private mutating func accept(
        _ send: Send, from name: ByteRange?, _ texts: TextSource, of request: AuthorisedCommand,
        at now: Moment, into effects: inout Effects
    ) throws(Rejection) {
        let sender = try sender(name, texts, of: request)
        let isClient = request.isOfClient
        let addressees = try addressees(of: send, texts, isClient: isClient)
        try checkSendPace(of: sender, count: addressees.devices.count, at: now)
        let isByLabels = send.recipients.areByLabels
        let source: MessageSource =
            if isByLabels {
                .labels(of: sender)
            } else if isClient, let sender {
                .client(sender)
            } else {
                .appServer
            }
        let admitted =
            isByLabels
            ? addressees.devices.map { PendingSend.Recipient($0, isOfStranger: true) }
            : try admit(sender, to: addressees.devices, isClient: isClient, into: &effects)
        let amount = amount(of: send)
        try checkRoom(for: amount, source, to: admitted)
        let withRoom = try withRoom(for: amount, source, admitted, into: &effects)
        if isClient, let sender {
            try spendOfStrangers(sender, on: withRoom, at: now.mono, into: &effects)
        }
        let passedOver = addressees.passedOver + admitted.count - withRoom.count
        messageStats.passedOver += passedOver

        let message = MessageID(number: sequence.next())
        let recipients = handingOver(to: withRoom)
        for recipient in recipients {
            inboxes.reserve(
                amount, for: recipient.account, of: sender?.index ?? none,
                isOfStranger: recipient.isOfStranger)
        }
        let accounts = recipients.map(\.account)
        let pending = PendingSend(
            message: message, connection: request.connection, sender: sender?.index ?? none,
            requested: now,
            expiry: now.expiry(afterSeconds: expirySeconds(of: send, source, to: recipients)),
            amount: amount, recipients: recipients, passedOver: passedOver,
            isByLabels: isByLabels, isCopied: send.isCopied, isOfAppServer: !isClient,
            accounts: hold(accounts[0], accounts.dropFirst() + (sender.map { [$0] } ?? [])))
        let record = record(
            of: pending, send, texts, senderDevice: deviceName(of: request, into: &effects),
            into: &effects)
        let ticket = inFlight.nextTicket()
        sendsInFlight.add(pending, ticket)
        effects.persist(.putMessage(record), ticket: ticket)
    }

    /// Who writes: a client's own account, the one that an app server names, or the service.
    private mutating func sender(
        _ name: ByteRange?, _ texts: TextSource, of request: AuthorisedCommand
    ) throws(Rejection) -> AccountHandle? {
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
    ) throws(Rejection) {
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
        _ sender: AccountHandle?, to addressees: [Addressee], isClient: Bool,
        into effects: inout Effects
    ) throws(Rejection) -> [PendingSend.Recipient] {
        var recipients: [PendingSend.Recipient] = []
        recipients.reserveCapacity(addressees.count)
        let start = effects.names.count
        for addressee in addressees {
            let account = addressee.account
            let isStranger = isClient && sender.map { !areRelated(account, $0) } ?? false
            if isStranger, let sender, !mayWrite(to: account, sender) {
                effects.names.append(effects.copyName(of: account.index, from: self))
            }
            recipients.append(PendingSend.Recipient(addressee, isOfStranger: isStranger))
        }
        try reject(Rejection(.notPermitted, field: .accounts), from: start, effects)
        return recipients
    }

    /// What a message counts for, for each recipient.
    private func amount(of send: Send) -> MessageAmount {
        let bytes =
            Int(send.body.count) + Int(send.ext?.count ?? 0) + Int(send.ref?.count ?? 0)
            + (send.stanza?.byteCount ?? 0)
        return MessageAmount(count: 1, byteCount: max(bytes, WaitingMessage.byteCountMin))
    }

    /// Draws a number for each recipient without a session.
    private mutating func handingOver(
        to recipients: [PendingSend.Recipient]
    ) -> [PendingSend.Recipient] {
        recipients.map { recipient in
            var recipient = recipient
            if let reason = reasonForHandOver(to: recipient.account, recipient.target) {
                recipient.handOver = HandOver(number: sequence.next(), reason: reason)
            }
            return recipient
        }
    }

    private func record(
        of send: PendingSend, _ request: Send, _ texts: TextSource, senderDevice: ByteRange?,
        into effects: inout Effects
    ) -> MessageRecord {
        MessageRecord(
            message: send.message,
            sender: send.sender == none ? nil : AccountHandle(index: send.sender),
            senderDevice: senderDevice, time: send.requested.wall, expires: send.expiry.wall,
            body: effects.copy(texts.bytes(request.body)),
            ext: request.ext.map { effects.copy(texts.bytes($0)) },
            ref: request.ref.map { effects.copy(texts.bytes($0)) },
            stanza: request.stanza?.map { effects.copy(texts.bytes($0)) },
            recipients: send.recipients.map { recipient in
                var device: ByteRange?
                if case .only(let name) = recipient.target { device = effects.copy(name) }
                return MessageRecord.Recipient(
                    account: recipient.account, device: device,
                    isOfStranger: recipient.isOfStranger, handOver: recipient.handOver)
            }, byteCount: send.amount.byteCount)
    }

    /// Counts a message for those recipients that the sender is a stranger to, or rejects it if
    /// strangers write to one of them too often. The last check: what is rejected is not counted.
    ///
    /// The limit is of all strangers together, with a share for each, and holds also if the
    /// recipient takes at once.
    private mutating func spendOfStrangers(
        _ sender: AccountHandle, on recipients: [PendingSend.Recipient], at now: Mono,
        into effects: inout Effects
    ) throws(Rejection) {
        guard let pace = settings.strangerPace else { return }
        let start = effects.names.count
        var longest: UInt64 = 0
        let party = historyAccount(sender.index)
        for recipient in recipients where recipient.isOfStranger {
            let number = recipient.account.index
            let key = historyAccount(number)
            guard let wait = strangerPaces.wait(of: key, for: party, pace, at: now) else {
                continue
            }
            longest = max(longest, wait)
            effects.names.append(effects.copyName(of: number, from: self))
        }
        guard longest == 0 else {
            var rejection = Rejection.tooOften(waitMilliseconds: longest)
            rejection.field = .accounts
            rejection.failed = start..<effects.names.count
            throw rejection
        }
        for recipient in recipients where recipient.isOfStranger {
            _ = strangerPaces.take(
                of: historyAccount(recipient.account.index), for: party, pace, at: now)
        }
    }

    // MARK: What the store says

    /// A message is durable: it waits, and sessions are sent it.
    mutating func applySend(
        _ send: PendingSend, under ticket: Ticket, at now: Moment, into effects: inout Effects
    ) {
        var reached = 0
        let start = effects.receivers.count
        for (place, recipient) in send.recipients.enumerated() {
            let (device, isPreference) = device(of: recipient)
            let message = WaitingMessage(
                id: send.message, expires: send.expiry.mono, sender: send.sender,
                byteCount: UInt32(send.amount.byteCount), place: UInt16(place),
                isOfStranger: recipient.isOfStranger, device: device,
                isPreference: isPreference,
                handOver: recipient.handOver.map { .done($0) } ?? handOverDue(at: now))
            add(message, for: recipient.account)
            note(message, for: recipient.account, at: send.requested.wall)
            if let handOver = recipient.handOver {
                noteHandOver(handOver, of: message.key, for: recipient.account)
            }
            // It may have expired while it waited for the store.
            guard now.mono < message.expires else { continue }
            if offer(message, to: recipient.account, into: &effects) { reached += 1 }
        }
        // Before the answer: what the sender asks for next comes after it.
        if effects.receivers.count > start {
            effects.items.append(
                .message(ticket, receivers: start..<effects.receivers.count))
        }
        copy(send, under: ticket, into: &effects)
        effects.answer(
            send.connection,
            .sent(
                Sent(
                    message: send.message, time: send.requested.wall, expires: send.expiry.wall,
                    recipients: send.recipients.count,
                    reached: send.isOfAppServer ? reached : nil, passedOver: send.passedOver)))
        release(send.accounts)
    }

    /// The device that a message is for, and whether that is a preference. One for a device that is
    /// not sent messages is none.
    private mutating func device(
        of recipient: PendingSend.Recipient
    ) -> (SlabRef, isPreference: Bool) {
        switch recipient.target {
        case .any: (.none, false)
        case .only(let device): (strings.insert(device.span), false)
        case .preferring(let device):
            reader(of: recipient.account, on: device) == nil
                ? (.none, false) : (strings.insert(device.span), true)
        }
    }

    /// Adds a message that has a place, and sees to its expiry and hand-over.
    mutating func add(_ message: WaitingMessage, for account: AccountHandle) {
        inboxes.insert(message, for: account)
        messageStats.stored += 1
        expectExpiry(ofMessagesFor: account, at: message.deadline)
    }

    /// A message could not be stored. Nothing has changed.
    mutating func cancelSend(_ send: PendingSend, into effects: inout Effects) {
        noteRejected(.storeUnavailable)
        effects.items.append(.reject(send.connection, Rejection(.storeUnavailable)))
        for recipient in send.recipients {
            inboxes.release(
                send.amount, for: recipient.account, of: send.sender,
                isOfStranger: recipient.isOfStranger)
        }
        release(send.accounts)
    }
}
