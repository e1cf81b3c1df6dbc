import ArgumentParser
import CommandSupport
import Foundation
import PresenceWebhooks
import Testing

@testable import porchlight
@testable import porchlight_bench

@Suite struct `Files with a key or a token` {
    func message<T>(_ body: () throws -> T) -> String {
        do {
            return "no error: \(try body())"
        } catch {
            return "\(error)"
        }
    }

    /// Nobody listens at port 1, and nobody is to be connected to without a credential.
    static let nowhere = ["--connect", "127.0.0.1:1"]

    @Test(arguments: [
        ("/nowhere/a.key", "No such file or directory"), ("/", "Is a directory"),
        ("/dev/null/a.key", "Not a directory"),
    ])
    func `say which of them cannot be read, and why`(path: String, why: String) {
        let keyError = "The file \(path) given with --server-key cannot be read: \(why)."
        let key = Self.nowhere + ["--server-key", path]
        #expect(message { try AppServerOptions.parse(key).open() } == keyError)
        #expect(message { try BenchArguments.parse(key).options() } == keyError)
        let token = Self.nowhere + ["--token-file", path]
        let account = ChosenAccount(name: nil, by: "--account")
        #expect(
            message { try ServerOptions.parse(token).openSession(of: account, from: "publish") }
                == "The file \(path) given with --token-file cannot be read: \(why).")
    }

    /// Kept or dropped, it could be another secret than the other side's.
    @Test func `begin with no byte order mark`() throws {
        let text = "a secret of thirty-two bytes or more"
        for (mark, words) in [("\u{FEFF}", "save it as UTF-8 without one"), ("", "no error")] {
            let file = try TemporaryFile(mark + text)
            defer { withExtendedLifetime(file) {} }
            let said = message {
                try CredentialFile(path: file.path, flag: "--f", content: "key").firstLine()
            }
            #expect(said.contains(words), "\(said)")
            var settings = ServiceSettings()
            settings.auth = .jwt
            settings.tokenKeyPlace = file.path
            #expect(message { try KeyFiles(settings) }.contains(words))
            settings.tokenKeyPlace = nil
            settings.serverKeyPath = file.path
            #expect(message { try KeyFiles(settings) }.contains(words))
            var choices = WebhookChoices()
            (choices.url, choices.secretPath) = ("http://a", file.path)
            #expect(message { try WebhookSettings(choices) }.contains(words))
        }
    }

    /// Everyone knows it, and could sign tokens and posts, or log in as an app server.
    @Test func `hold no public key in place of a secret`() throws {
        let key = "MCowBQYDK2VwAyEA9c9mizlqFWKktVn+aDBhtM5/uRXrNHaiZOmUOL9/4gA="
        let file = try TemporaryFile(key + "\n")
        defer { withExtendedLifetime(file) {} }
        var settings = ServiceSettings()
        settings.auth = .jwt
        settings.tokenKeyPlace = file.path
        #expect(message { try KeyFiles(settings) }.contains("contains a public key"))
        settings.tokenKeyPlace = nil
        settings.serverKeyPath = file.path
        #expect(message { try KeyFiles(settings) }.contains("has a public key in line 1"))
        var choices = WebhookChoices()
        (choices.url, choices.secretPath) = ("http://a", file.path)
        #expect(message { try WebhookSettings(choices) }.contains("contains a public key"))
    }

    @Test func `that are UTF-16 are rejected, and random bytes are not`() throws {
        let file = try TemporaryFile("")
        defer { withExtendedLifetime(file) {} }
        let place = URL(filePath: file.path)
        let text = try #require("a secret of some length".data(using: .utf16LittleEndian))
        try (Data([0xFF, 0xFE]) + text).write(to: place)
        #expect(message { try readSecretFile(file.path) }.contains("UTF-16"))
        let random = Data([0xFF, 0xFE]) + Data((1...40).map { UInt8($0 * 3) })
        try random.write(to: place)
        #expect(try readSecretFile(file.path) == Array(random))
    }

    @Test func `that are empty hold none`() {
        #expect(
            message {
                try CredentialFile(path: "/dev/null", flag: "--f", content: "key").firstLine()
            }
                == "The file /dev/null given with --f holds no key: it is empty.")
    }

    @Test(arguments: ["a key\nand more", "\r\na key\r\n", "a key"])
    func `hold it in their first line`(text: String) throws {
        let file = try TemporaryFile(text)
        let line = try withExtendedLifetime(file) {
            try CredentialFile(path: file.path, flag: "--f", content: "key").firstLine()
        }
        #expect(line == "a key")
    }

    @Test func `do not have it told where it is not UTF-8`() throws {
        let file = try TemporaryFile("")
        let told = try withExtendedLifetime(file) {
            try Data([0x6B, 0xFF, 0x0A]).write(to: URL(filePath: file.path))
            return message {
                try CredentialFile(path: file.path, flag: "--f", content: "key").firstLine()
            }
        }
        #expect(told.hasSuffix("given with --f holds no key: it is not UTF-8."))
    }
}
