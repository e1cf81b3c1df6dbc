import ArgumentParser
import CommandSupport
import PresenceClient

struct Devices: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the devices of an account that have an alias, tags or a push address.",
        usage: "porchlight devices <account> [<options>]",
        discussion: """
            One line for each device, with its session if it has one. Apps set these with \
            setDevice; messages for aliases and tags are sent with `porchlight send --tag`.
            """)

    @Argument(help: "The account.")
    var account: String

    @Flag(help: "Print each device as one line of JSON, for programs.")
    var json = false

    @OptionGroup var server: AppServerOptions

    func validate() throws {
        try checkAccountName(account, as: "ACCOUNT")
    }

    func run() throws {
        try report(naming: ["account": "ACCOUNT"]) {
            let result = try server.open().call("devices", ["account": .string(account)])
            let line = DeviceLine(style: Style())
            for device in result["devices"]?.array ?? [] {
                try announce(json ? device.text : line.line(device))
            }
        }
    }
}

/// A device as a line of text.
struct DeviceLine {
    let style: Style

    /// A line such as `phone  ios, connected  alias lisi  tags vip, 北京  push address “apns:6f0c”`.
    func line(_ device: JSON) -> String {
        var parts = [style.paint(visible(device["device"]?.string ?? "?"), .bold)]
        if let client = device["client"]?.string {
            parts.append("\(visible(client)), \(device["connection"]?.string ?? "?")")
        } else {
            parts.append("no session")
        }
        if let alias = device["alias"]?.string { parts.append("alias \(visible(alias))") }
        if let tags = device["tags"]?.array, !tags.isEmpty {
            parts.append("tags " + tags.map { visible($0.string ?? "?") }.joined(separator: ", "))
        }
        if let address = device["pushAddress"]?.string {
            parts.append("push address “\(visible(address))”")
        }
        return parts.joined(separator: "  ")
    }
}
