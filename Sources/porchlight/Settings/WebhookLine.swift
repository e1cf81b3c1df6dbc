import PresenceClient

/// One of the webhooks in the file of `--webhooks`.
struct WebhookLine: Decodable {
    var name: String
    var url: String
    /// The file with the secret.
    var secret: String
    /// What it posts: `events` or `undelivered`.
    var send: String

    private enum Member: String, CodingKey, CaseIterable { case name, url, secret, send }

    /// Members that a webhook does not have: a misspelt one must not be ignored.
    struct UnknownMembersError: Error {
        /// The place of the webhook in the list, from 1.
        let number: Int
        let names: [String]

        /// For the author of the file.
        var words: String {
            let known = Member.allCases.map(\.rawValue).joined(separator: ", ")
            let unknown = names.map { "\"\(visible(String($0.prefix(64))))\"" }
            return "webhook \(number) has \(unknown.joined(separator: ", ")); the members are "
                + known
        }
    }

    private struct AnyMember: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let names = try decoder.container(keyedBy: AnyMember.self).allKeys.map(\.stringValue)
        let unknown = names.filter { Member(rawValue: $0) == nil }
        guard unknown.isEmpty else {
            let place = decoder.codingPath.last?.intValue ?? 0
            throw UnknownMembersError(number: place + 1, names: unknown.sorted())
        }
        let members = try decoder.container(keyedBy: Member.self)
        name = try members.decode(String.self, forKey: .name)
        url = try members.decode(String.self, forKey: .url)
        secret = try members.decode(String.self, forKey: .secret)
        send = try members.decodeIfPresent(String.self, forKey: .send) ?? "events"
    }
}
