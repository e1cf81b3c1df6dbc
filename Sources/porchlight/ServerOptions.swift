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

    @Option(
        help: ArgumentHelp(
            "A file whose first line is the account's token, where the service wants one; else it "
                + "is taken from the environment's PORCHLIGHT_TOKEN.",
            valueName: "file"))
    var tokenFile: String?

    /// The account's token, read anew each time; nil where none is given.
    private func token() throws -> String? {
        guard let tokenFile else {
            return ProcessInfo.processInfo.environment["PORCHLIGHT_TOKEN"]
        }
        guard let content = try? String(contentsOfFile: tokenFile, encoding: .utf8),
            let token = content.split(whereSeparator: \.isNewline).first
        else { throw Failure("The file \(tokenFile) given with --token-file holds no token.") }
        return String(token)
    }

    /// Logs in as an account: by its token where there is one, else by its word.
    ///
    /// Gives the account that it is.
    func logIn(_ client: Client, as account: String?, from verb: String) throws -> String {
        var params: [String: JSON] = [
            "device": .string(deviceName(verb)), "client": "other", "sync": "none",
        ]
        if let token = try token() {
            params["token"] = .string(token)
        } else if let account {
            params["account"] = .string(account)
        } else {
            throw ValidationError("Whose is it? Give --account, or --token-file.")
        }
        let result = try client.call("login", .object(params))
        return result["account"]?.string ?? ""
    }

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
