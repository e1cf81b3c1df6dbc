import ArgumentParser
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
        let key = try serverKey.map {
            try CredentialFile(path: $0, flag: "--server-key", content: "key").firstLine()
        }
        let client = try connect()
        _ = try client.call("login", key.map { ["key": .string($0)] } ?? ["client": "server"])
        return client
    }
}
