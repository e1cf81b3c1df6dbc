public import ArgumentParser
import Foundation
public import PresenceClient
public import TLSSessions

/// Whether a client speaks TLS, and which certificates it trusts.
public struct TLSOptions: ParsableArguments {
    /// Whether the client speaks TLS.
    @Flag(
        name: .customLong("tls"),
        help: "Connect over TLS, and check the service's certificate and its name.")
    public var isOn = false

    @Option(
        name: .customLong("ca"),
        help: ArgumentHelp(
            "With --tls, trust the certificates in this file, in PEM, instead of the system's.",
            valueName: "file"))
    var authorities: String?

    /// No TLS.
    public init() {}

    /// Checks that the options fit together.
    public func validate() throws {
        guard isOn || authorities == nil else {
            throw ValidationError("--ca is for connections over TLS: add --tls.")
        }
    }

    /// What a client needs; nil without TLS.
    public func client() throws -> ClientTLS? {
        guard let trust = try trust() else { return nil }
        do throws(TLSCertificateError) {
            return ClientTLS(
                try TLSClientContext(trust), wallSeconds: Int64(Date().timeIntervalSince1970))
        } catch {
            throw CommandError("\(named) \(error).")
        }
    }

    /// Which certificates are trusted; nil without TLS.
    public func trust() throws -> TLSClientContext.Trust? {
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
