import ArgumentParser
import Foundation
import PresenceClient

/// Which service the verbs talk to that are an app server: one shows a key, and never a token.
struct AppServerOptions: ParsableArguments {
    @Option(
        name: .customLong("connect"),
        help: ArgumentHelp("Where the service is.", valueName: "host:port"))
    var address = "127.0.0.1:7400"

    @Option(
        help: ArgumentHelp(
            "A file whose first line is an app server's key.", valueName: "file"))
    var serverKey: String?

    /// A connection that has not logged in.
    func connect() throws -> Client {
        guard let address = parseAddress(address) else {
            throw ValidationError(
                "--connect \(address) is no address: give a host and a port, such as "
                    + "127.0.0.1:7400.")
        }
        return try Client(host: address.host, port: address.port)
    }

    /// A connection that has logged in as an app server.
    func open() throws -> Client {
        let client = try connect()
        if let serverKey {
            guard let content = try? String(contentsOfFile: serverKey, encoding: .utf8),
                let key = content.split(whereSeparator: \.isNewline).first
            else { throw Failure("The file \(serverKey) given with --server-key holds no key.") }
            _ = try client.call("login", ["key": .string(String(key))])
        } else {
            _ = try client.call("login", ["client": "server"])
        }
        return client
    }
}
