import Testing

@testable import porchlight

@Suite struct `Accounts to watch, before they are parsed` {
    private func names(_ count: Int) -> [String] { (0..<count).map { "a\($0)" } }

    @Test func `each is given to the parser once`() {
        #expect(
            withoutRepeatedAccounts(["bob", "carol", "bob", "--json", "carol", "carol", "bob"])
                == ["bob", "carol", "--json", "carol"])
    }

    @Test func `the value of an option stays, whatever it is`() {
        #expect(
            withoutRepeatedAccounts(["bob", "--as", "bob", "--type", "100", "bob"])
                == ["bob", "--as", "bob", "--type", "100"])
    }

    @Test func `an account above the limit is found without the parser`() throws {
        #expect(tooManyAccounts(in: names(3_000)) == nil)
        #expect(tooManyAccounts(in: names(3_000) + ["--as", "alice", "--type", "100"]) == nil)
        let text = try #require(tooManyAccounts(in: names(3_001) + ["--as", "alice"]))
        #expect(text.hasPrefix("ACCOUNT is given 3001 times: one account can be subscribed to at"))
    }

    @Test func `a service with other limits decides itself`() {
        #expect(tooManyAccounts(in: names(3_001) + ["--unchecked"]) == nil)
    }
}
