internal import PresenceCore

// The parameters of the methods about messages.
extension RequestDecoder {
    /// A client may name fewer accounts than an app server. The decoder does not know who asks: the
    /// engine checks that.
    mutating func readSend() throws(Rejection) -> Command {
        let account = try readAccount()
        let recipients = try readRecipients()
        let receipt = try readReceipt()
        let body = try receipt == nil ? readBody() : readText(.body) ?? .empty
        let ext = try readText(.ext)
        try checkSize(of: body, ext, receipt?.extra)
        return .send(
            account: account,
            Send(
                to: recipients, body: body, ext: ext, ref: try readRef(), stanza: receipt,
                expirySeconds: try readInteger(
                    .expiry, min: limits.messageExpirySecondsMin,
                    max: limits.messageExpirySecondsMax) ?? limits.messageExpirySecondsDefault))
    }

    /// Exactly one of `accounts`, `aliases`, and tags.
    private mutating func readRecipients() throws(Rejection) -> Recipients {
        let accounts = try readNames(
            .accounts, countMax: limits.accountsPerSendOfAppServersMax)
        let aliases = try readLabels(.aliases, countMax: Limits.aliasesPerSendMax)
        let tags = try readTags()
        let device = try readName(.device, bytesMax: limits.deviceBytesMax)
        guard device == nil || accounts?.count == 1 else {
            throw Rejection(.outOfRange, field: .device)
        }
        switch (accounts, aliases, tags) {
        case (let accounts?, nil, nil):
            return device.map { .device($0, of: accounts) } ?? .accounts(accounts)
        case (nil, let aliases?, nil): return .aliases(aliases)
        case (nil, nil, let tags?): return .tags(tags)
        case (nil, nil, nil): throw Rejection(.missingField, field: .accounts)
        case (_, .some, _): throw Rejection(.duplicateField, field: .aliases)
        case (_, nil, let tags?):
            throw Rejection(.duplicateField, field: tags.any == nil ? .tagsAll : .tags)
        }
    }

    /// Those of `tagsNot` alone select nothing.
    private mutating func readTags() throws(Rejection) -> Recipients.Tags? {
        let any = try readLabels(.tags, countMax: Limits.tagsPerSendMax)
        let all = try readLabels(.tagsAll, countMax: Limits.tagsPerSendMax)
        let not = try readLabels(.tagsNot, countMax: Limits.tagsPerSendMax)
        guard any != nil || all != nil else {
            if not != nil { throw Rejection(.missingField, field: .tags) }
            return nil
        }
        return Recipients.Tags(any: any, all: all, not: not)
    }

    /// A label that no device can have is one that no device has.
    private mutating func readLabels(
        _ parameter: Parameter, countMax: Int
    ) throws(Rejection) -> NameList? {
        try readNames(parameter, countMax: countMax, bytesMax: Limits.labelBytesMax)
    }

    /// What waits for an account, or what a sender has left for it, or for all.
    func readDiscard() throws(Rejection) -> Command {
        let account = try readAccount()
        let sender = try readName(.from, bytesMax: limits.accountBytesMax)
        if sender == nil { _ = try required(account, .account) }
        return .discard(account: account, from: sender)
    }

    func readTake() throws(Rejection) -> Command {
        let text = try required(readText(.id), .id)
        guard let number = Base32.value(of: self.text, at: text) else {
            throw Rejection(.outOfRange, field: .id)
        }
        return .take(MessageID(number: number))
    }

    private func readBody() throws(Rejection) -> ByteRange {
        let body = try required(readText(.body), .body)
        guard body.count > 0 else {
            throw Rejection(.outOfRange, field: .body, min: 1, max: limits.messageBytesMax)
        }
        return body
    }

    /// The id of the stanza that is received.
    private func readReceipt() throws(Rejection) -> StanzaParts<ByteRange>? {
        let bytesMax = limits.messageBytesMax
        guard let id = try readText(.receipt, bytesMax: bytesMax) else { return nil }
        guard id.count > 0 else {
            throw Rejection(.outOfRange, field: .receipt, min: 1, max: bytesMax)
        }
        return StanzaParts(kind: .receipt, language: .empty, addressed: .empty, extra: id)
    }

    /// `body`, `ext` and `receipt` have one limit.
    private func checkSize(
        of body: ByteRange, _ ext: ByteRange?, _ receipt: ByteRange?
    ) throws(Rejection) {
        let count = Int(body.count) + Int(ext?.count ?? 0) + Int(receipt?.count ?? 0)
        guard count <= limits.messageBytesMax else {
            throw Rejection(.tooLong, field: .body, limit: limits.messageBytesMax, count: count)
        }
    }

    private func readRef() throws(Rejection) -> ByteRange? {
        guard let ref = try readText(.ref, bytesMax: limits.refBytesMax) else { return nil }
        guard ref.count > 0 else {
            throw Rejection(.outOfRange, field: .ref, min: 1, max: limits.refBytesMax)
        }
        return ref
    }
}

extension ByteRange {
    /// The range of no text.
    fileprivate static let empty = ByteRange(start: 0, count: 0)
}
