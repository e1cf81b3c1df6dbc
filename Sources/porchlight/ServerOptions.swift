import ArgumentParser
import Foundation
import PresenceClient

/// Which service the verbs talk to, and as whom.
struct ServerOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where the service is.", valueName: "host:port"))
    var connect = "127.0.0.1:7400"

    @Option(
        help: ArgumentHelp(
            "A file whose first line is an app server's key.", valueName: "file"))
    var serverKey: String?

    /// A connection that has not logged in.
    func open() throws -> Client {
        guard let address = parseAddress(connect) else {
            throw ValidationError(
                "--connect \(connect) is no address: give a host and a port, such as "
                    + "127.0.0.1:7400.")
        }
        return try Client(host: address.host, port: address.port)
    }

    /// A connection that has logged in as an app server.
    func openAsAppServer() throws -> Client {
        let client = try open()
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

/// A device name that no other process on this machine has at the same time.
func deviceName(_ verb: String) -> String {
    "\(verb)-\(ProcessInfo.processInfo.processIdentifier)"
}

/// Runs a verb and gives what goes wrong as one sentence.
func report<T>(_ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as ClientError {
        throw Failure(error.description)
    }
}
