import ArgumentParser
import Foundation
import Testing

@testable import porchlight

@Suite struct `Files with a key or a token` {
    func fault<T>(_ body: () throws -> T) -> String {
        do {
            return "no fault: \(try body())"
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
        let keyFault = "The file \(path) given with --server-key cannot be read: \(why)."
        let key = Self.nowhere + ["--server-key", path]
        #expect(fault { try AppServerOptions.parse(key).open() } == keyFault)
        #expect(fault { try BenchArguments.parse(key).options() } == keyFault)
        let token = Self.nowhere + ["--token-file", path]
        let account = ChosenAccount(name: nil, by: "--account")
        #expect(
            fault { try ServerOptions.parse(token).openSession(of: account, from: "publish") }
                == "The file \(path) given with --token-file cannot be read: \(why).")
    }

    @Test func `that are empty hold none`() {
        #expect(
            fault { try CredentialFile(path: "/dev/null", flag: "--f", content: "key").firstLine() }
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
            return fault {
                try CredentialFile(path: file.path, flag: "--f", content: "key").firstLine()
            }
        }
        #expect(told.hasSuffix("given with --f holds no key: it is not UTF-8."))
    }
}
