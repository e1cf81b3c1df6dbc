import ArgumentParser
import Foundation
import PresenceClient

struct Publish: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Be an account with a status, until ^C; or set it once.",
        discussion: """
            Logs in as the account, publishes the value and stays online until ^C, then logs
            out. When the service is away it tries again, ever more slowly, and publishes the
            value again unless that has expired. With --once it is set through an app server's
            session and stays until it expires; the account does not come online for that.
            """)

    @Argument(help: "The value: 10000 to 2147483647.")
    var value: Int

    @Option(help: "Whose status it is; a token says it by itself, and must be this account's.")
    var account: String?

    @Option(help: "The type of state: 1 is presence, 100 and up are an app's own.")
    var type = 1

    @Option(help: "A text that goes with it, at most 4,096 bytes.")
    var ext: String?

    @Option(help: "After how many seconds it is gone: 60 to 604800.")
    var expiry = 3_600

    @Flag(help: "Put it into the login list of those who are away, too.")
    var keep = false

    @Flag(help: "Set it and leave.")
    var once = false

    @OptionGroup var server: ServerOptions

    func run() throws {
        guard once else { return try stay() }
        guard let account else {
            throw ValidationError("--once sets the status of whom? Give --account.")
        }
        try report {
            try publish(server.appServer.open(), as: account, through: .appServer)
        }
    }

    private enum Speaker { case itself, appServer }

    private func publish(_ client: Client, as account: String, through speaker: Speaker) throws {
        var params: [String: JSON] = [
            "type": .integer(Int64(type)), "value": .integer(Int64(value)),
            "expiry": .integer(Int64(expiry)), "onlineOnly": .bool(!keep),
        ]
        if speaker == .appServer { params["account"] = .string(account) }
        if let ext { params["ext"] = .string(ext) }
        let result = try client.call("publish", .object(params))
        announce("published as \(visible(account)), seq \(result["seq"]?.integer ?? 0)")
    }

    /// Stays online until the person at the keyboard has had enough, also when the service goes
    /// and comes back.
    private func stay() throws {
        let chosen = ChosenAccount(name: account, by: "--account")
        var returning = Returning()
        var end = Date.distantFuture
        while true {
            do {
                let (client, account) = try server.openSession(of: chosen, from: "publish")
                // While there is no session, ^C ends the process: there is nothing to log out of.
                let interrupts = Interrupts()
                defer { interrupts.end() }
                return try unlessInterrupted(interrupts) {
                    // What has expired is not brought back.
                    if Date() < end {
                        try publish(client, as: account, through: .itself)
                        end = Date().addingTimeInterval(Double(expiry))
                    }
                    returning.hasArrived()
                    try stay(client, until: interrupts)
                }
            } catch let error as ClientError {
                try returning.wait(after: error)
            }
        }
    }

    /// Has what goes wrong after ^C be the end, and no reason to try again.
    private func unlessInterrupted(_ interrupts: Interrupts, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as ClientError where interrupts.hasCome {
            throw Failure(error.description)
        }
    }

    private func stay(_ client: Client, until interrupts: Interrupts) throws {
        var spoken = Date()
        while !interrupts.hasCome {
            if Date().timeIntervalSince(spoken) > 10 {
                try client.keepAlive()
                spoken = Date()
            }
            guard let notification = try client.nextNotification(withinMilliseconds: 500) else {
                continue
            }
            if notification.method == "close" { throw client.closed(notification.params) }
        }
        _ = try client.call("logout")
        announce("logged out")
    }
}
