import Foundation
import PresenceWebhooks
import Testing

@testable import porchlight

@Suite struct `The file of webhooks` {
    /// The endpoints that a file gives. SECRET in it stands for a file with a secret.
    func endpoints(_ text: String) throws -> [String] {
        let secret = try TemporaryFile("a secret of some length\n")
        let list = try TemporaryFile(text.replacingOccurrences(of: "SECRET", with: secret.path))
        defer { withExtendedLifetime((secret, list)) {} }
        var choices = WebhookChoices()
        choices.listPath = list.path
        do {
            return try WebhookSettings(choices).endpoints.map(\.name)
        } catch let rejection {
            throw SettingsError(
                rejection.messages.map { $0.replacingOccurrences(of: list.path, with: "FILE") })
        }
    }

    /// What is said of a file.
    func message(_ text: String) -> String? {
        #expect(throws: SettingsError.self) { try endpoints(text) }?.description
    }

    let crm = #"{"name": "crm", "url": "http://a", "secret": "SECRET"}"#

    @Test func `may have several, one or none`() throws {
        let audit = #"{"secret": "SECRET", "url": "http://a", "name": "audit"}"#
        #expect(try endpoints("[\(crm), \(audit)]") == ["crm", "audit"])
        #expect(try endpoints("[\(crm)]") == ["crm"])
        #expect(try endpoints("[]") == [])
    }

    @Test func `has no member twice`() {
        let twice = #"{"name": "a", "url": "http://a", "url": "http://b", "secret": "SECRET"}"#
        #expect(
            message("[\(twice)]")
                == "The file FILE given with --webhooks has an object with two members of the same "
                + "name: give each once.")
    }

    @Test func `has no members that nobody reads`() {
        let start = "The file FILE given with --webhooks: webhook 2 has"
        #expect(
            message(#"[\#(crm), {"name": "audit", "url": "http://a", "secrte": "SECRET"}]"#)
                == "\(start) \"secrte\"; the members are name, url, secret, send.")
        #expect(
            message(
                #"[\#(crm), {"name": "b", "url": "http://a", "secret": "SECRET", "z": 1, "a": 2}]"#)
                == "\(start) \"a\", \"z\"; the members are name, url, secret, send.")
    }

    @Test(arguments: [
        "", "{}", "[1]", "[{}]", #"[{"name": "crm", "url": "http://a"}]"#,
        #"[{"name": 1, "url": "http://a", "secret": "s"}]"#,
    ])
    func `has a form`(text: String) {
        #expect(
            message(text)?.contains("FILE given with --webhooks does not have the form") == true)
    }
}
