import ArgumentParser
import CommandSupport
import Foundation
import PresenceClient
import TLSSessions

/// Where the service is, for the verbs that connect to it.
struct ConnectOptions: ParsableArguments {
    @Option(
        name: .customLong("connect"),
        help: ArgumentHelp(
            "Connect to the service's native port at this address. (default: 127.0.0.1:7400, with "
                + "--tls 127.0.0.1:7443)", valueName: "host:port"))
    var typedAddress: String?

    @OptionGroup var tls: TLSOptions

    func validate() throws { _ = try parts() }

    private var address: String { typedAddress ?? (tls.isOn ? "127.0.0.1:7443" : "127.0.0.1:7400") }

    private func parts() throws -> (host: String, port: UInt16) {
        do throws(AddressError) {
            return try addressParts(address)
        } catch {
            throw ValidationError(
                "--connect \(cut(address)) \(error.words): give a host and a port, such as "
                    + "127.0.0.1:7400.")
        }
    }

    /// A connection that has not logged in.
    func connect() throws -> Client {
        let address = try parts()
        return try Client(host: address.host, port: address.port, tls: try tls.client())
    }
}
