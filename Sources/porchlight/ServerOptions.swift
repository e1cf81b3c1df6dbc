import ArgumentParser
import Foundation
import PresenceClient

/// Which service the verbs talk to that are an account, and as whom.
struct ServerOptions: ParsableArguments {
    @OptionGroup var appServer: AppServerOptions

    @Option(
        help: ArgumentHelp(
            "A file whose first line is the account's token, where the service wants one; else it "
                + "is taken from the environment's PORCHLIGHT_TOKEN.",
            valueName: "file"))
    var tokenFile: String?

    /// The account's token, read anew each time; nil where none is given.
    private func token() throws -> AccountToken? {
        guard let tokenFile else {
            return ProcessInfo.processInfo.environment["PORCHLIGHT_TOKEN"].map {
                AccountToken(text: $0, place: "the environment's PORCHLIGHT_TOKEN")
            }
        }
        let file = CredentialFile(path: tokenFile, flag: "--token-file", content: "token")
        return AccountToken(text: try file.firstLine(), place: "the file \(tokenFile)")
    }

    /// Connects and logs in as an account: by its token where there is one, else by its word.
    ///
    /// Gives the account that it is. Where a token is another's than the account that was typed,
    /// it is refused before anybody can see that one online.
    func openSession(
        of chosen: ChosenAccount, from verb: String
    ) throws -> (client: Client, account: String) {
        var params: [String: JSON] = [
            "device": .string(deviceName(verb)), "client": "other", "sync": "none",
        ]
        let token = try token()
        if let token {
            if let account = token.account { try chosen.check(account, of: token) }
            params["token"] = .string(token.text)
        } else if let account = chosen.name ?? chosen.standard {
            params["account"] = .string(account)
        } else {
            throw ValidationError("Whose is it? Give \(chosen.flag), or --token-file.")
        }
        let client = try appServer.connect()
        let account = try client.call("login", .object(params))["account"]?.string ?? ""
        guard let token else { return (client, account) }
        do {
            try chosen.check(account, of: token)
        } catch {
            _ = try client.call("logout")
            throw error
        }
        return (client, account)
    }
}

/// A device name that no other process on this machine has at the same time.
func deviceName(_ verb: String) -> String {
    "\(verb)-\(ProcessInfo.processInfo.processIdentifier)"
}

/// Runs a verb and gives what goes wrong as one sentence.
func report<T>(_ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as ClientError {
        throw Failure(error.description)
    }
}
