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

    /// What a client needs; nil without TLS.
    func client() throws -> ClientTLS? {
        guard let trust = try trust() else { return nil }
        do throws(TLSCertificateError) {
            return ClientTLS(
                try TLSClientContext(trust), wallSeconds: Int64(Date().timeIntervalSince1970))
        } catch {
            throw CommandError("\(named) \(error).")
        }
    }

    /// Which certificates are trusted; nil without TLS.
    func trust() throws -> TLSClientContext.Trust? {
        guard isOn else { return nil }
        guard let authorities else { return .system }
        do throws(FileError) {
            return .certificates(try readSecretFile(authorities))
        } catch {
            throw CommandError("\(named) cannot be read: \(error.words).")
        }
    }

    private var named: String { "The file \(authorities ?? "") given with --ca" }
}
