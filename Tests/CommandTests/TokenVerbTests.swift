import ArgumentParser
import Testing

@testable import porchlight

@Suite struct `A token to try out` {
    func parse(_ account: String) throws -> Token {
        try Token.parse(["--key", "secret", "--for", "1h", "--", account])
    }

    @Test(arguments: [
        "", " alice", "alice ", " ", "al\nice", "al\u{7F}ice", "al\u{85}ice",
        String(repeating: "é", count: 128),
    ])
    func `is for no name that the protocol does not have`(account: String) {
        let rejection = #expect(throws: (any Error).self) { try parse(account) }
        let told = rejection.map { Token.message(for: $0) } ?? ""
        #expect(
            told.contains(
                "is not an account name: give 1 to 255 bytes without control characters and "
                    + "without a space at "
                    + "either end."), "\(told)")
        #expect(told.hasPrefix("ACCOUNT ") && !told.contains("al\nice"), "\(told)")
    }

    @Test(arguments: ["alice", "al ice", "é", String(repeating: "a", count: 255)])
    func `is for every other`(account: String) throws {
        #expect(try parse(account).account == account)
    }

    @Test(arguments: ["-1h", "-5", "1", "h", "0s", ""])
    func `has a lifetime that is a time`(life: String) {
        let rejection = #expect(throws: (any Error).self) {
            try Token.parse(["alice", "--key", "secret", "--for", life])
        }
        let told = rejection.map { Token.message(for: $0) } ?? ""
        #expect(told.contains("--for \(life) is not a time"), "\(told)")
    }
}
