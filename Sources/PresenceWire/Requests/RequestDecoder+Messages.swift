internal import PresenceCore

// The parameters of the methods about messages.
extension RequestDecoder {
    /// A client may name fewer accounts than an app server. The decoder does not know who asks: the
    /// engine checks that.
    mutating func readSend() throws(Refusal) -> Command {
        let account = try readAccount()
        let accounts = try required(
            readNames(.accounts, countMax: limits.accountsPerSendOfAppServersMax), .accounts)
        let device = try readName(.device, bytesMax: limits.deviceBytesMax)
        guard device == nil || accounts.count == 1 else {
            throw Refusal(.outOfRange, field: .device)
        }
        let body = try readBody()
        let ext = try readText(.ext)
        try checkSize(of: body, ext)
        return .send(
            account: account,
            Send(
                accounts: accounts, device: device, body: body, ext: ext, ref: try readRef(),
                expirySeconds: try readInteger(
                    .expiry, min: limits.messageExpirySecondsMin,
                    max: limits.messageExpirySecondsMax) ?? limits.messageExpirySecondsDefault))
    }

    func readTake() throws(Refusal) -> Command {
        let text = try required(readText(.id), .id)
        guard let number = Base32.value(of: self.text, at: text) else {
            throw Refusal(.outOfRange, field: .id)
        }
        return .take(MessageID(number: number))
    }

    private func readBody() throws(Refusal) -> ByteRange {
        let body = try required(readText(.body), .body)
        guard body.count > 0 else {
            throw Refusal(.outOfRange, field: .body, min: 1, max: limits.messageBytesMax)
        }
        return body
    }

    /// `body` and `ext` have one limit.
    private func checkSize(of body: ByteRange, _ ext: ByteRange?) throws(Refusal) {
        let count = Int(body.count) + Int(ext?.count ?? 0)
        guard count <= limits.messageBytesMax else {
            throw Refusal(.tooLong, field: .body, limit: limits.messageBytesMax, count: count)
        }
    }

    private func readRef() throws(Refusal) -> ByteRange? {
        guard let ref = try readText(.ref, bytesMax: limits.refBytesMax) else { return nil }
        guard ref.count > 0 else {
            throw Refusal(.outOfRange, field: .ref, min: 1, max: limits.refBytesMax)
        }
        return ref
    }
}
