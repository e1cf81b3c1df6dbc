// A session that a verb holds until ^C or SIGTERM: it sends keep-alives, reconnects after the
// service was unreachable, and logs out at the end, also after an error.

import CommandSupport
import Foundation
import PresenceClient

/// What a verb does with the session that it holds.
struct CommandSession {
    /// What each login has besides the credentials: `device` takes the place of the default.
    var login: [String: JSON] = [:]
    /// Called after each login.
    let begin: (OpenSession) throws -> Void
    /// Called with each notification except `close`.
    var receive: (Client.Notification) throws -> Void = { _ in }
    /// Called about once a second.
    var renew: (Client) throws -> Void = { _ in }
    /// Whether nothing is left to do.
    var isDone: () -> Bool = { false }
    /// Called before the logout at the end.
    var end: (Client, String) throws -> Void = { _, _ in }

    /// Serves a session that is open, until a signal comes or it is done.
    fileprivate func follow(_ open: OpenSession, until interrupts: Interrupts) throws {
        let client = open.client
        var keepAlive = open.keepAlive
        while !interrupts.hasCome, !isDone() {
            try renew(client)
            try keepAlive.send(to: client)
            guard let notification = try client.nextNotification(withinMilliseconds: 500) else {
                continue
            }
            if notification.method == "close" { throw client.closed(notification.params) }
            try receive(notification)
        }
    }
}

extension ServerOptions {
    /// Holds a session as an account until ^C or SIGTERM. If the service is lost after a first
    /// success, tries again.
    func hold(_ session: CommandSession, of chosen: ChosenAccount, from verb: String) throws {
        var reconnection = Reconnection()
        while true {
            do {
                let open = try openSession(of: chosen, from: verb, with: session.login)
                // Without a session, ^C ends the process: there is nothing to log out of.
                let interrupts = Interrupts()
                defer { interrupts.end() }
                return try unlessInterrupted(interrupts) {
                    try open.logOutAtEnd(interrupts) {
                        try session.begin(open)
                        reconnection.connected()
                        try session.follow(open, until: interrupts)
                        // A second ^C does not wait for the answers.
                        interrupts.end()
                        try session.end(open.client, open.account)
                    }
                }
            } catch let error as ClientError {
                try reconnection.wait(after: error)
            }
        }
    }

    /// An error after ^C ends the verb; it is not a reason to try again.
    private func unlessInterrupted(_ interrupts: Interrupts, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as ClientError where interrupts.hasCome {
            throw CommandError(error.description)
        }
    }
}

extension OpenSession {
    /// Logs out after `body`, also if that throws: a session that is dropped stays online for the
    /// disconnect grace.
    fileprivate func logOutAtEnd(_ interrupts: Interrupts, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            interrupts.end()
            // The error of `body` is the one to report.
            if isOpen(after: error) { _ = try? client.call("logout") }
            throw error
        }
        _ = try client.call("logout")
    }

    /// Whether an error leaves the session open.
    private func isOpen(after error: any Error) -> Bool {
        switch error as? ClientError {
        case .cannotConnect, .unknownHost, .notSecured, .connectionLost, .notThisProtocol,
            .otherProtocol, .timedOut, .closed:
            false
        case .rejected, .badAnswer, nil: true
        }
    }
}
