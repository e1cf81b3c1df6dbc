import ArgumentParser
import CommandSupport
import Foundation
import PresenceClient
import PresenceCore

struct Publish: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Be online as an account with a status until ^C, or set a status once.",
        usage: "porchlight publish <value> [--account <account>] [<options>]",
        discussion: """
            Logs in as the account, publishes the value and stays online until ^C, then logs \
            out. If the service is lost, it tries again at growing intervals, and publishes the \
            value again unless that has expired. With --once it sets the status through an app \
            server's session: the status stays until it expires, and the account does not come \
            online.
            """)

    @Argument(
        help: "The status: 10000 to 2147483647. What each value means is up to your app.")
    var value: Int

    @Option(
        help: "The account whose status it is; a token must be for the same account.")
    var account: String?

    @OptionGroup var state: StateOptions

    @Option(help: "A text that goes with the value, at most 4,096 bytes.")
    var ext: String?

    // A value may begin with a dash: then it is negative, and not an option.
    @Option(parsing: .unconditional, help: "Seconds until the status expires: 60 to 604800.")
    var expiry = 3_600

    // Other commands call it so, and the parser would suggest `--ext`.
    @Option(name: .customLong("for"), parsing: .unconditional, help: .hidden)
    var duration: String?

    @Flag(help: "Also list the status at login, for subscribers that are offline now.")
    var keep = false

    @Flag(help: "Set the status and exit.")
    var once = false

    @OptionGroup var server: ServerOptions

    @Option(help: .serverKeyForOnce)
    var serverKey: String?

    func validate() throws {
        guard duration == nil else {
            throw ValidationError("There is no --for: give the seconds as --expiry.")
        }
        try checkStatus()
        guard !once else {
            // First: the account is not that of a token, either.
            guard server.tokenFile == nil, server.passwordFile == nil else {
                throw ValidationError(
                    "--once logs in as an app server: give --server-key"
                        + (account == nil ? " and --account" : "")
                        + ", not the account's --token-file or --password-file.")
            }
            guard account != nil else {
                throw ValidationError("--once needs the account whose status to set: --account.")
            }
            return
        }
        try server.checkPassword(of: account, by: "--account")
        guard serverKey == nil else {
            throw ValidationError(
                "--server-key is for --once: to be online, the account logs in itself.")
        }
        guard account != nil || server.hasToken else {
            throw ValidationError("No account is given: use --account or --token-file.")
        }
    }

    /// Checks what the help says of a status.
    private func checkStatus() throws {
        if let account { try state.checkAccount(account, as: "--account") }
        guard let limits = state.limits else { return }
        try state.checkNumber(
            value, as: "VALUE", in: limits.customValueMin...limits.customValueMax)
        try state.checkNumber(
            expiry, as: "--expiry",
            in: limits.statusExpirySecondsMin...limits.statusExpirySecondsMax, after: " seconds")
        if let ext { try state.checkText(ext, as: "--ext", bytesMax: limits.extBytesMax) }
    }

    func run() throws {
        guard once, let account else { return try stay() }
        try report {
            let client = try AppServerOptions.open(server.service, keyFile: serverKey)
            try publish(client, as: account, through: .appServer)
        }
    }

    private enum Speaker { case itself, appServer }

    private static let words = [
        "account": "--account", "value": "VALUE", "type": "--type", "ext": "--ext",
        "expiry": "--expiry",
    ]

    private func publish(_ client: Client, as account: String, through speaker: Speaker) throws {
        var params: [String: JSON] = [
            "type": .integer(Int64(state.type)), "value": .integer(Int64(value)),
            "expiry": .integer(Int64(expiry)), "onlineOnly": .bool(!keep),
        ]
        if speaker == .appServer { params["account"] = .string(account) }
        if let ext { params["ext"] = .string(ext) }
        let result = try naming(Self.words) { try client.call("publish", .object(params)) }
        try announce("published as \(visible(account)), seq \(result["seq"]?.integer ?? 0)")
    }

    /// Stays online until ^C, also when the service restarts.
    private func stay() throws {
        var expires = Date.distantFuture
        let session = CommandSession(begin: { open in
            // An expired status is not brought back.
            guard Date() < expires else { return }
            try publish(open.client, as: open.account, through: .itself)
            expires = Date().addingTimeInterval(Double(expiry))
        })
        try server.hold(
            session, of: ChosenAccount(name: account, by: "--account"), from: "publish")
        try announce("logged out")
    }
}

extension ArgumentHelp {
    fileprivate static let serverKeyForOnce = ArgumentHelp(
        "With --once, log in with the app server's key in the first line of this file.",
        valueName: "file")
}
