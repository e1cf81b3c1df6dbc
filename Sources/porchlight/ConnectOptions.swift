import ArgumentParser
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

/// Whether a client speaks TLS, and which certificates it trusts.
struct TLSOptions: ParsableArguments {
    @Flag(
        name: .customLong("tls"),
        help: "Connect over TLS, and check the service's certificate and its name.")
    var isOn = false

    @Option(
        name: .customLong("ca"),
        help: ArgumentHelp(
            "With --tls, trust the certificates in this file, in PEM, instead of the system's.",
            valueName: "file"))
    var authorities: String?

    func validate() throws {
        guard isOn || authorities == nil else {
            throw ValidationError("--ca is for connections over TLS: add --tls.")
        }
    }

    /// What a client trusts; nil without TLS.
    func client() throws -> ClientTLS? {
        guard let context = try context() else { return nil }
        return ClientTLS(context, wallSeconds: Int64(Date().timeIntervalSince1970))
    }

    /// The same, without the time.
    func context() throws -> TLSClientContext? {
        guard isOn else { return nil }
        guard let authorities else { return try TLSClientContext(.system) }
        let named = "The file \(authorities) given with --ca"
        let content: [UInt8]
        do throws(FileError) {
            content = try readFile(authorities)
        } catch {
            throw CommandError("\(named) cannot be read: \(error.words).")
        }
        do throws(TLSCertificateError) {
            return try TLSClientContext(.certificates(content))
        } catch {
            throw CommandError("\(named) \(error).")
        }
    }
}
