import PresenceClient
import PresenceTokens

/// A token that a verb logs in with.
struct AccountToken {
    let text: String
    /// Where it was found, such as `the file bob.token`.
    let place: String

    /// Whose it says that it is; nil where it cannot be read here.
    var account: String? { claimedAccount(inToken: Array(text.utf8)) }
}

/// The account that a verb is to be.
struct ChosenAccount {
    /// What was typed; nil: nothing.
    let name: String?
    /// What it is typed behind, such as `--account`.
    let flag: String
    /// Who it is where there is neither a name nor a token; nil: nobody.
    let standard: String?

    init(name: String?, by flag: String, standard: String? = nil) {
        self.name = name
        self.flag = flag
        self.standard = standard
    }

    /// Refuses to act as another account than the one that was typed.
    func check(_ account: String, of token: AccountToken) throws {
        // As the service compares them; `==` would take two ways to write é for one.
        guard let name, !name.utf8.elementsEqual(account.utf8) else { return }
        let typed = visible(name)
        throw Failure(
            "\(flag) is \(typed), and the token in \(token.place) is \(visible(account))'s: give "
                + "a token of \(typed)'s, or leave \(flag) out.")
    }
}
