import ArgumentParser
import CommandSupport
import PresenceClient

struct Receive: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the messages for an account and take them, until ^C.",
        usage: "porchlight receive [--account <account>] [<options>]",
        discussion: """
            Logs in as the account, which is online meanwhile. Prints the messages that wait, \
            and then each that arrives, one line each, and takes them: they are not sent to \
            another device. If the service is lost, it tries again at growing intervals.
            """)

    @Option(help: "The account whose messages to print; a token must be for the same account.")
    var account: String?

    @Option(
        help: ArgumentHelp(
            "Log in as this device, for messages that are for it only. (default: a device of this "
                + "process, such as receive-4711)"))
    var device: String?

    @Flag(help: "Wait for one message, print and take it, and exit.")
    var once = false

    @Flag(help: "Print each message as one line of JSON, for programs.")
    var json = false

    @OptionGroup var server: ServerOptions

    func validate() throws {
        if let account { try checkAccountName(account, as: "--account") }
        try server.checkPassword(of: account, by: "--account")
        guard account != nil || server.hasToken else {
            throw ValidationError("No account is given: use --account or --token-file.")
        }
    }

    func run() throws {
        var login: [String: JSON] = ["messages": true]
        if let device { login["device"] = .string(device) }
        var client: Client?
        var printed = RecentMessages()
        var isDone = false
        let session = CommandSession(
            login: login,
            begin: { open in
                client = open.client
                guard open.messagesWaiting != nil else {
                    throw CommandError("Messages are turned off at this service (messages: off).")
                }
            },
            receive: { notification in
                guard notification.method == "messages" else { return }
                let messages = notification.params["messages"]?.array ?? []
                for message in once ? messages.prefix(1) : messages[...] {
                    if printed.insert(message) { try show(message) }
                }
                // This takes those before it, too.
                guard let last = once ? messages.first : messages.last else { return }
                _ = try client?.call("take", ["id": last["id"] ?? .null])
                isDone = once
            },
            isDone: { isDone })
        try server.hold(
            session, of: ChosenAccount(name: account, by: "--account"), from: "receive")
    }

    private func show(_ message: JSON) throws {
        try announce(json ? message.text : MessageLine(style: Style()).line(message))
    }
}
