// Whom a message is for, and whether there is room for it. By aliases and tags it is for each
// device that has them, as a message for that device alone; full boxes are passed over then, since
// the sender does not know them.

import Containers

/// An account that a message is for, and which of its devices.
struct Addressee {
    let account: AccountHandle
    var target = MessageTarget.any
}

extension PendingSend.Recipient {
    init(_ addressee: Addressee, isOfStranger: Bool) {
        self.init(
            account: addressee.account, target: addressee.target, isOfStranger: isOfStranger)
    }
}

extension Recipients {
    /// Whether the devices are selected by their labels.
    var areByLabels: Bool {
        switch self {
        case .accounts, .device: false
        case .aliases, .tags: true
        }
    }
}

extension Engine {
    /// Whom a message is for, at least one.
    mutating func addressees(
        of send: Send, _ texts: TextSource, isClient: Bool
    ) throws(Rejection) -> [Addressee] {
        let accountsMax = settings.limits.accountsPerSendMax
        switch send.recipients {
        case .accounts(let list):
            guard !isClient || list.count <= accountsMax else {
                throw Rejection(.tooMany, field: .accounts, limit: accountsMax)
            }
            let target = preference(of: send, texts)
            return try intern(list, texts).map { Addressee(account: $0, target: target) }
        case .device(let device, let list):
            let target = MessageTarget.only(texts.bytes(device))
            return try intern(list, texts).map { Addressee(account: $0, target: target) }
        case .aliases(let list):
            guard !isClient else { throw Rejection(.forbidden, field: .aliases) }
            return try selected(
                devices.matches(
                    aliases: labels(list, texts), matchesMax: settings.limits.recipientsPerSendMax),
                by: .aliases)
        case .tags(let tags):
            let field: Rejection.Field = tags.any == nil ? .tagsAll : .tags
            guard !isClient else { throw Rejection(.forbidden, field: field) }
            let selection = TagSelection(
                tags: labels(tags.any, texts), tagsAll: labels(tags.all, texts),
                tagsNot: labels(tags.not, texts))
            return try selected(
                devices.matches(selection, matchesMax: settings.limits.recipientsPerSendMax),
                by: field)
        }
    }

    /// The device that a stanza was addressed to.
    private func preference(of send: Send, _ texts: TextSource) -> MessageTarget {
        guard let addressed = send.stanza?.addressed, addressed.count > 0 else { return .any }
        return .preferring(texts.bytes(addressed))
    }

    private func labels(_ list: NameList?, _ texts: TextSource) -> [[UInt8]] {
        list.map { texts.names($0).map { texts.bytes($0) } } ?? []
    }

    private func selected(
        _ matches: DeviceMatches, by field: Rejection.Field
    ) throws(Rejection) -> [Addressee] {
        switch matches {
        case .these([]): throw Rejection(.noRecipients, field: field)
        case .these(let devices):
            return devices.map { Addressee(account: $0.account, target: .only($0.device)) }
        case .tooMany(let count, let limit):
            throw Rejection(.tooMany, field: field, limit: limit, count: count)
        }
    }

    // MARK: Room

    /// Rejects a message that there is no room for among all messages, or those of its sender.
    func checkRoom(
        for message: MessageAmount, of sender: AccountHandle?,
        to recipients: [PendingSend.Recipient]
    ) throws(Rejection) {
        let limits = settings.limits
        let byStrangers = recipients.count { $0.isOfStranger }
        guard
            inboxes.amount.byteCount + message.byteCount * recipients.count
                <= limits.messageBytesInAllMax,
            byStrangers == 0
                || inboxes.bytesOfStrangers + message.byteCount * byStrangers
                    <= limits.messageBytesInAllMax / 2
        else {
            throw Rejection(.overloaded, retryAfterSeconds: 60)
        }
        guard sendsInFlight.byteCount + message.byteCount <= SendsInFlight.byteCountMax else {
            throw Rejection(.overloaded, retryAfterSeconds: 1)
        }
        guard let sender else { return }
        let before = inboxes.sent(by: sender)
        let after = before + message * recipients.count
        guard after.count <= limits.messagesPerSenderMax else {
            throw Rejection(.senderQuota, limit: limits.messagesPerSenderMax, count: before.count)
        }
        guard after.byteCount <= limits.messageBytesPerSenderMax else {
            throw Rejection(
                .senderQuota, field: .body, limit: limits.messageBytesPerSenderMax,
                count: before.byteCount)
        }
    }

    /// The recipients whose boxes have room for a message: all, or the message is rejected; if
    /// others are passed over, at least one.
    ///
    /// Those of one account are next to each other.
    func withRoom(
        for message: MessageAmount, _ recipients: [PendingSend.Recipient], isPassing: Bool,
        into effects: inout Effects
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
                    message * count, isOfStranger: recipient.isOfStranger,
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
        if isPassing, !withRoom.isEmpty {
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

    /// The most names of those that a message is rejected because of.
    private var failedMax: Int { settings.limits.accountsPerSendOfAppServersMax }

    /// Rejects a send because of the recipients whose names are in `effects.names` from `start` on,
    /// if there are any.
    func reject(
        _ rejection: Rejection, from start: Int, _ effects: borrowing Effects
    ) throws(Rejection) {
        let failed = start..<effects.names.count
        guard !failed.isEmpty else { return }
        var rejection = rejection
        rejection.failed = failed
        throw rejection
    }
}
