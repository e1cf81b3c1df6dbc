import ArgumentParser
import CommandSupport
import Foundation
import PresenceClient
import Testing

@testable import porchlight

@Suite struct `Logging in as an account` {
    /// A token with this payload; nobody here looks at its signature.
    func token(_ payload: String) -> String {
        let parts = [#"{"alg":"HS256"}"#, payload, "signature"].map {
            Data($0.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        }
        return parts.joined(separator: ".") + "\n"
    }

    /// What comes of logging in with a token as the account that was typed; nil: as it should.
    func message(_ token: String, as name: String?, at address: String) throws -> String? {
        let file = try TemporaryFile(token)
        return try withExtendedLifetime(file) {
            let options = try ServerOptions.parse([
                "--connect", address, "--token-file", file.path,
            ])
            do {
                let chosen = ChosenAccount(name: name, by: "--account")
                _ = try options.openSession(of: chosen, from: "publish")
                return nil
            } catch {
                return "\(error)".replacingOccurrences(of: file.path, with: "FILE")
            }
        }
    }

    /// Where nobody listens: who connects says that.
    static let nowhere = "127.0.0.1:1"

    @Test func `with another's token is rejected before anybody is connected to`() throws {
        #expect(
            try message(token(#"{"sub":"alice"}"#), as: "bob", at: Self.nowhere)
                == "--account is bob, and the token in the file FILE given with --token-file is "
                + "for alice: give a token for bob, or omit --account.")
    }

    @Test(arguments: ["cafe\u{301}", "Café", "café "])
    func `compares names byte by byte`(name: String) throws {
        let message = try message(token(#"{"sub":"café"}"#), as: name, at: Self.nowhere)
        #expect(message?.hasPrefix("--account is") == true, "\(message ?? "")")
    }

    @Test(arguments: ["alice", nil])
    func `goes on with one's own token, or with nobody named`(name: String?) throws {
        let message = try message(token(#"{"sub":"alice"}"#), as: name, at: Self.nowhere)
        #expect(message?.hasPrefix("Cannot connect") == true, "\(message ?? "")")
    }

    @Test func `says what to do where the account has too many sessions`() throws {
        let service = try ScriptedService()
        Thread.detachNewThread {
            let connection = try? service.accept()
            let request = try? connection?.nextMessage(withinMilliseconds: 30_000)
            try? connection?.send([
                "jsonrpc": "2.0", "id": request?["id"] ?? .null,
                "error": [
                    "code": 419, "message": "The account has 10 sessions.",
                    "data": ["reason": "session_quota", "limit": 10],
                ],
            ])
        }
        let options = try ServerOptions.parse(["--connect", service.address])
        let failure = #expect(throws: CommandError.self) {
            try options.openSession(of: ChosenAccount(name: "bob", by: "--as"), from: "watch")
        }
        #expect(
            failure?.description == "bob cannot log in. The account has 10 sessions. (419) Log out "
                + "one of its sessions, or give another account with --as.")
    }

    @Test func `ends where the service makes of it another account`() throws {
        let service = try ScriptedService()
        let isLoggedOut = Mailbox<Bool>()
        Thread.detachNewThread {
            isLoggedOut.put {
                let connection = try service.accept()
                _ = try connection.answer("login", ["account": "alice"])
                _ = try connection.answer("logout")
                return true
            }
        }
        let message = try message("of.another.kind\n", as: "bob", at: service.address)
        #expect(message?.contains("is for alice: give a token for bob") == true, "\(message ?? "")")
        #expect(try isLoggedOut.take())
    }
}
