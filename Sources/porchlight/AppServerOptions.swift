import ArgumentParser
import CommandSupport
import PresenceClient

/// Options of the verbs that log in as an app server: these use a key, never a token.
struct AppServerOptions: ParsableArguments {
    @OptionGroup var service: ConnectOptions

    @Option(help: .serverKey)
    var serverKey: String?

    /// A connection that has logged in as an app server.
    func open() throws -> Client { try Self.open(service, keyFile: serverKey) }

    /// The same, for a verb with options of its own.
    static func open(_ service: ConnectOptions, keyFile: String?) throws -> Client {
        let key = try keyFile.map {
            try CredentialFile(path: $0, flag: "--server-key", content: "key").firstLine()
        }
        let client = try service.connect()
        let credentials = keyFile.map(LoginCredentials.key) ?? .appServer
        try credentials.whileLoggingIn {
            _ = try client.call("login", key.map { ["key": .string($0)] } ?? ["client": "server"])
        }
        return client
    }
}

extension ArgumentHelp {
    /// Of every `--server-key` that is a client's.
    static let serverKey = ArgumentHelp(
        "Log in with the app server's key in the first line of this file.", valueName: "file")
}
