// Whether there is room for a message: among all messages, those of its sender, and in the boxes of
// its recipients. Each limit has parts, and senders have shares of them: see `MessageOrigin` and
// `Share`.
//
// An account that no client has ever logged in to has a box as any other: a limit of its own would
// tell strangers that it does not exist. What strangers leave is bounded by their shares instead,
// and waits for the default time at most, whomever it is for.

import Containers

/// Who sends a message.
enum MessageSource {
    case client(AccountHandle)
    case appServer
    /// An app server to devices by their labels, in the name of an account or of the service.
    case labels(of: AccountHandle?)

    func origin(isToStranger: Bool) -> MessageOrigin {
        switch self {
        case .client(let sender): isToStranger ? .stranger(sender.index) : .related
        case .appServer: .appServer
        case .labels(let sender): .labels(of: sender?.index ?? none)
        }
    }
}

extension Engine {
    /// For how many seconds a message waits.
    func expirySeconds(
        of send: Send, _ source: MessageSource, to recipients: [PendingSend.Recipient]
    ) -> Int {
        guard case .client = source, recipients.contains(where: \.isOfStranger) else {
            return send.expirySeconds
        }
        return min(send.expirySeconds, settings.limits.messageExpirySecondsDefault)
    }

    /// What all messages that wait may count for.
    var messagesInAll: MessageAmount {
        MessageAmount(count: .max, byteCount: settings.limits.messageBytesInAllMax)
    }

    /// Rejects a message that there is no room for among all messages, or those of its sender.
    mutating func checkRoom(
        for message: MessageAmount, _ source: MessageSource,
        to recipients: [PendingSend.Recipient]
    ) throws(Rejection) {
        let bytes = message.byteCount * recipients.count
        let free = bytesFree(for: source.origin(isToStranger: false))
        guard bytes <= free else {
            if case .client = source { throw noRoom(in: .accounts) }
            throw noRoom(in: .all)
        }
        guard sendsInFlight.byteCount + message.byteCount <= SendsInFlight.byteCountMax else {
            throw Rejection(.overloaded, retryAfterSeconds: 1)
        }
        guard case .client(let sender) = source else { return }
        try checkQuota(of: sender, message * recipients.count)
        try checkShare(of: sender, bytes, free: free)
        let strangers = recipients.count { $0.isOfStranger }
        guard strangers > 0 else { return }
        let freeOfStrangers = bytesFree(for: .stranger(sender.index))
        guard message.byteCount * strangers <= freeOfStrangers else {
            throw noRoom(in: .strangers)
        }
        try checkShare(of: sender, message.byteCount * strangers, free: freeOfStrangers)
    }

    private func bytesFree(for origin: MessageOrigin) -> Int {
        inboxes.parts.free(for: origin, limit: messagesInAll).byteCount
    }

    private mutating func noRoom(in share: MessageShare) -> Rejection {
        messageStats.rejectedOfShare[share, default: 0] += 1
        return Rejection(.overloaded, retryAfterSeconds: 60)
    }

    private func checkQuota(
        of sender: AccountHandle, _ messages: MessageAmount
    ) throws(Rejection) {
        let limits = settings.limits
        let before = inboxes.sent(by: sender)
        let after = before + messages
        guard after.count <= limits.messagesPerSenderMax else {
            throw Rejection(.senderQuota, limit: limits.messagesPerSenderMax, count: before.count)
        }
        guard after.byteCount <= limits.messageBytesPerSenderMax else {
            throw Rejection(
                .senderQuota, field: .body, limit: limits.messageBytesPerSenderMax,
                count: before.byteCount)
        }
    }

    /// Rejects what is beyond the share of an account of the bytes of all. Its size is not said: it
    /// would show when others take their messages.
    private mutating func checkShare(
        of sender: AccountHandle, _ bytes: Int, free: Int
    ) throws(Rejection) {
        let held = inboxes.sent(by: sender).byteCount
        guard !Share.ninth.admits(bytes, held: held, free: free) else { return }
        guard held > 0 else { throw noRoom(in: .sender) }
        messageStats.rejectedOfShare[.sender, default: 0] += 1
        throw Rejection(.senderQuota, field: .body)
    }

    /// The recipients whose boxes have room for a message: all, or the message is rejected; if
    /// others are passed over, at least one.
    ///
    /// Those of one account are next to each other.
    mutating func withRoom(
        for message: MessageAmount, _ source: MessageSource,
        _ recipients: [PendingSend.Recipient], into effects: inout Effects
    ) throws(Rejection) -> [PendingSend.Recipient] {
        let limits = settings.limits
        var withRoom: [PendingSend.Recipient] = []
        let start = effects.names.count
        var isFullOfBytes = true
        var lastFull: AccountHandle?
        // How many of the message the account of the last recipient gets, with this one.
        var count = 0
        for recipient in recipients {
            count = recipient.account == withRoom.last?.account ? count + 1 : 1
            guard
                let full = inboxes[recipient.account].lacks(
                    message * count, source.origin(isToStranger: recipient.isOfStranger),
                    limit: limits.messagesPerAccount)
            else {
                withRoom.append(recipient)
                continue
            }
            if full == .count { isFullOfBytes = false }
            if recipient.account != lastFull, effects.names.count - start < failedMax {
                effects.names.append(effects.copyName(of: recipient.account.index, from: self))
            }
            lastFull = recipient.account
        }
        if case .labels = source, !withRoom.isEmpty {
            effects.names.removeLast(effects.names.count - start)
            return withRoom
        }
        let full =
            isFullOfBytes
            ? Rejection(.inboxFull, field: .body, limit: limits.messageBytesPerAccountMax)
            : Rejection(.inboxFull, field: .accounts, limit: limits.messagesPerAccountMax)
        try reject(full, from: start, effects)
        return withRoom
    }
}
