import ArgumentParser
import CommandSupport
import Foundation
import PresenceClient

/// Options of the verbs that log in as an account.
struct ServerOptions: ParsableArguments {
    @OptionGroup var service: ConnectOptions

    @Option(
        help: ArgumentHelp(
            "Log in with the token in the first line of this file; without it, with the one in "
                + "the environment variable PORCHLIGHT_TOKEN, if that is set.",
            valueName: "file"))
    var tokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Log in with the account's password, which is the first line of this file that is not "
                + "empty.",
            valueName: "file"))
    var passwordFile: String?

    /// Whether a token is given, by either way. A password is preferred to the environment.
    var hasToken: Bool { tokenFile != nil || (passwordFile == nil && tokenInEnvironment != nil) }

    func validate() throws {
        guard tokenFile == nil || passwordFile == nil else {
            throw ValidationError(
                "An account logs in with one credential: give --token-file or --password-file.")
        }
    }

    /// Checks that a password is given with its account; a token names its own.
    func checkPassword(of account: String?, by flag: String) throws {
        guard passwordFile == nil || account != nil else {
            throw ValidationError("--password-file needs the account that has it: \(flag).")
        }
    }

    private var tokenInEnvironment: String? {
        ProcessInfo.processInfo.environment["PORCHLIGHT_TOKEN"]
    }

    /// The account's token, read again for each login; nil if none is given.
    private func token() throws -> AccountToken? {
        guard hasToken else { return nil }
        guard let tokenFile else {
            return tokenInEnvironment.map {
                AccountToken(text: $0, place: "the environment's PORCHLIGHT_TOKEN")
            }
        }
        let file = CredentialFile(path: tokenFile, flag: "--token-file", content: "token")
        return AccountToken(
            text: try file.firstLine(), place: "the file \(tokenFile) given with --token-file")
    }

    /// The account's password, read again for each login; nil if none is given.
    private func password() throws -> String? {
        try passwordFile.map {
            try CredentialFile(path: $0, flag: "--password-file", content: "password").firstLine()
        }
    }

    /// What the account logs in with, for errors.
    private func credentials(_ token: AccountToken?, by flag: String) -> LoginCredentials {
        if let passwordFile { return .password(path: passwordFile) }
        return token.map(LoginCredentials.token) ?? .accountName(flag: flag)
    }

    /// Connects and logs in as an account: with its token or password if one is given, else by its
    /// name.
    ///
    /// A token of another account than the one that was typed is rejected before that account
    /// appears online.
    func openSession(
        of chosen: ChosenAccount, from verb: String, with more: [String: JSON] = [:]
    ) throws -> OpenSession {
        var params: [String: JSON] = [
            "device": .string(deviceName(verb)), "client": "other", "sync": "none",
        ]
        params.merge(more) { $1 }
        let token = try token()
        let account: String?
        if let token {
            account = token.account
            if let account { try chosen.check(account, of: token) }
            params["token"] = .string(token.text)
        } else {
            account = chosen.name ?? chosen.standard
            guard let account else {
                throw CommandError("No account is given: use \(chosen.flag) or --token-file.")
            }
            params["account"] = .string(account)
            if let password = try password() { params["password"] = .string(password) }
        }
        let client = try service.connect()
        let result = try chosen.whileLoggingIn(as: account) {
            try credentials(token, by: chosen.flag).whileLoggingIn {
                try naming(["account": chosen.flag, "device": "--device"]) {
                    try client.call("login", .object(params))
                }
            }
        }
        let session = OpenSession(
            client: client, account: result["account"]?.string ?? "",
            messagesWaiting: result["waiting"]?.integer,
            keepAlive: KeepAlive(heartbeatSeconds: result["heartbeat"]?.integer))
        guard let token else { return session }
        do {
            try chosen.check(session.account, of: token)
        } catch {
            _ = try client.call("logout")
            throw error
        }
        return session
    }
}

/// A session that has logged in.
struct OpenSession {
    let client: Client
    /// The name that the service knows the account by.
    let account: String
    /// How many messages wait for it; nil if it receives none.
    let messagesWaiting: Int64?
    var keepAlive: KeepAlive
}

/// A device name that no other process on this machine uses at the same time.
func deviceName(_ verb: String) -> String {
    "\(verb)-\(ProcessInfo.processInfo.processIdentifier)"
}

/// Runs a verb; an error of the client ends it with one sentence, which names what was typed.
func report<T>(naming words: [String: String] = [:], _ body: () throws -> T) throws -> T {
    do {
        return try naming(words, body)
    } catch let error as ClientError {
        throw CommandError(error.description)
    }
}
