// `porchlight send`: a message of an account, or of the service, from the command line.

import ArgumentParser
import CommandSupport
import PresenceClient
import PresenceCore

struct Send: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send a message to accounts, or to devices by alias or tags.",
        usage: """
            porchlight send <account> ... [<text>] [<options>]
            porchlight send [<text>] --alias <alias> ... [<options>]
            porchlight send [<text>] --tag <tag> ... [<options>]
            """,
        discussion: """
            The last word is the text. If there is only one word, or with --file, all words are \
            accounts, and the text is read from standard input or from the file, without its \
            last line break. With --alias or --tag the only word is the text, and the message \
            is for each device that has them. It waits until a device of the recipient takes it \
            or it expires. Logs in as an app server: no account comes online.

                porchlight send bob carol "The build is broken." --from ci
                porchlight send bob carol --file - < report.txt
                porchlight send "New: dark mode." --tag beta --tag-not ios
            """)

    @Argument(
        help: ArgumentHelp(
            "The recipients, and the text if more than one word is given.",
            valueName: "account"))
    var words: [String] = []

    @OptionGroup var labels: LabelOptions

    @Option(
        help: ArgumentHelp(
            "The account that sends the message. (default: none, it is from the service)",
            valueName: "account"))
    var from: String?

    @Option(help: "Only for this device of the recipient, which is one account.")
    var device: String?

    @Option(help: "A text for the app; with the message at most 131,072 bytes.")
    var ext: String?

    @Option(
        help: ArgumentHelp(
            "Your own id of the message, at most 64 bytes: recipients drop one that they have.",
            valueName: "id"))
    var ref: String?

    // A value may begin with a dash: then it is negative, and not an option.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Seconds until the message expires: 60 to 2592000. (default: 604800)",
            valueName: "seconds"))
    var expiry: Int?

    @Option(help: ArgumentHelp("Read the text from this file; - is standard input."))
    var file: String?

    @OptionGroup var server: AppServerOptions

    /// Whether the last word is the text.
    private var hasText: Bool { file == nil && words.count > (labels.areGiven ? 0 : 1) }

    private var accounts: [String] { hasText ? words.dropLast() : words }

    func validate() throws {
        if labels.areGiven {
            guard accounts.isEmpty else {
                throw ValidationError(
                    "With --alias or --tag the only word is the text: quote it, give no ACCOUNT."
                )
            }
        } else if accounts.isEmpty {
            throw ValidationError("No recipient is given: give an ACCOUNT, --alias or --tag.")
        }
        for account in accounts { try checkAccountName(account, as: "ACCOUNT") }
        if let from { try checkAccountName(from, as: "--from") }
        guard device == nil || Set(accounts.map { Array($0.utf8) }).count == 1 else {
            throw ValidationError("--device is for a message to one account: give one ACCOUNT.")
        }
        guard !hasText || words.last?.isEmpty == false else {
            throw ValidationError("TEXT is empty: give at least one character.")
        }
    }

    /// What was typed, by name of the parameter.
    private static let typed = [
        "account": "--from", "accounts": "ACCOUNT", "body": "The text", "device": "--device",
        "expiry": "--expiry", "ext": "--ext", "ref": "--ref",
    ].merging(LabelOptions.typed) { own, _ in own }

    func run() throws {
        let text = try text()
        try report(naming: Self.typed) {
            let result = try server.open().call("send", params(text))
            let count = result["recipients"]?.integer ?? 0
            let reached = result["reached"]?.integer ?? 0
            let passedOver = result["passedOver"]?.integer ?? 0
            let noun = labels.areGiven ? "device" : "account"
            try announce(
                "sent as \(result["id"]?.string ?? "?") to \(count) "
                    + "\(noun)\(count == 1 ? "" : "s"), \(reached) receiving now"
                    + (passedOver > 0 ? ", \(passedOver) passed over: no room" : ""))
        }
    }

    private func params(_ text: String) -> JSON {
        var params = labels.params
        params["body"] = .string(text)
        if !accounts.isEmpty { params["accounts"] = .array(accounts.map { .string($0) }) }
        for (name, value) in ["account": from, "device": device, "ext": ext, "ref": ref] {
            if let value { params[name] = .string(value) }
        }
        if let expiry { params["expiry"] = .integer(Int64(expiry)) }
        return .object(params)
    }

    /// The text of the message.
    ///
    /// Its length is checked here: what does not fit into a frame closes the connection.
    private func text() throws -> String {
        let text = try hasText ? words.last ?? "" : textOfFile()
        let (count, limit) = (text.utf8.count + (ext ?? "").utf8.count, Limits().messageBytesMax)
        guard count <= limit else {
            let with = ext == nil ? "has" : "and --ext together have"
            throw CommandError("The text \(with) \(count) bytes: give at most \(limit).")
        }
        return text
    }

    private func textOfFile() throws -> String {
        var name = "Standard input"
        var bytes: [UInt8]
        do throws(FileError) {
            if let file, file != "-" {
                name = "The file \(file) given with --file"
                bytes = try readFile(file)
            } else {
                bytes = try readInput()
            }
        } catch {
            throw CommandError("\(name) cannot be read: \(error.words).")
        }
        if bytes.last == UInt8(ascii: "\n") {
            bytes.removeLast()
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError("\(name) holds no text: it is not UTF-8.")
        }
        guard !text.isEmpty else { throw CommandError("\(name) holds no text: it is empty.") }
        return text
    }
}
