// Whom a message is for, and whether there is room for it. By aliases and tags it is for each
// device that has them, as a message for that device alone; full boxes are passed over then, since
// the sender does not know them.

import Containers

/// An account that a message is for, and which of its devices.
struct Addressee {
    let account: AccountHandle
    var target = MessageTarget.any
}

/// Whom a message is for, and how many devices that labels select it is not for, since they are
/// more than it may be for.
struct Addressees {
    var devices: [Addressee]
    var passedOver = 0
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
    ) throws(Rejection) -> Addressees {
        let accountsMax = settings.limits.accountsPerSendMax
        switch send.recipients {
        case .accounts(let list):
            guard !isClient || list.count <= accountsMax else {
                throw Rejection(.tooMany, field: .accounts, limit: accountsMax)
            }
            let target = preference(of: send, texts)
            return Addressees(
                devices: try intern(list, texts).map { Addressee(account: $0, target: target) })
        case .device(let device, let list):
            let target = MessageTarget.only(texts.bytes(device))
            return Addressees(
                devices: try intern(list, texts).map { Addressee(account: $0, target: target) })
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
    ) throws(Rejection) -> Addressees {
        switch matches {
        case .these([], _): throw Rejection(.noRecipients, field: field)
        case .these(let devices, let passedOver):
            return Addressees(
                devices: devices.map { Addressee(account: $0.account, target: .only($0.device)) },
                passedOver: passedOver)
        case .tooMany(let count, let limit):
            throw Rejection(.tooMany, field: field, limit: limit, count: count)
        }
    }

    /// The most names of those that a message is rejected because of.
    var failedMax: Int { settings.limits.accountsPerSendOfAppServersMax }

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
