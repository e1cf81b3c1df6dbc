import Dispatch
import Foundation
import Logging
import PresenceServer
import TLSSessions

/// The settings of TLS.
struct TLSChoices: Sendable {
    /// Where clients connect over TLS, if at all.
    var listen: String?
    /// The files with certificates, with commas between them.
    var certificatePaths: String?
    /// The files with their keys, in the same order.
    var keyPaths: String?
    var minimum = TLSContext.MinimumVersion.tls12
}

/// The certificates and keys that settings name, ready for use. They take effect whole or not at
/// all.
struct TLSFiles: Sendable {
    /// Where clients connect over TLS; nil: nowhere.
    let listening: TLSListening?
    /// What the operator should know about these files.
    let warnings: [String]

    /// A warning begins this long before a certificate expires.
    private static let noticeSeconds: Int64 = 14 * 24 * 3_600

    /// Reads the files.
    ///
    /// - Throws: which file, and what would be right; never the content.
    init(
        _ choices: TLSChoices, tickets: TLSTicketKeys,
        at wallSeconds: Int64 = Int64(Date().timeIntervalSince1970)
    ) throws(SettingsError) {
        guard let listen = choices.listen else {
            listening = nil
            warnings = []
            return
        }
        let certificates = Self.paths(choices.certificatePaths)
        let keys = Self.paths(choices.keyPaths)
        guard certificates.count == keys.count else {
            throw SettingsError(
                "tls-certificate names \(certificates.count) files and tls-key \(keys.count): each "
                    + "certificate needs its key, in the same order")
        }
        var files: [TLSCertificateFiles] = []
        for (certificate, key) in zip(certificates, keys) {
            try Self.checkSecret(key)
            files.append(
                TLSCertificateFiles(
                    chain: try readFile(certificate, givenWith: "--tls-certificate"),
                    key: try readFile(key, givenWith: "--tls-key")))
        }
        let context: TLSContext
        do throws(TLSContextError) {
            context = try TLSContext(
                files, minimum: choices.minimum, tickets: tickets, at: wallSeconds)
        } catch {
            let (path, flag) =
                error.reason.isOfKey
                ? (keys[error.number], "--tls-key")
                : (certificates[error.number], "--tls-certificate")
            throw SettingsError("The file \(path) given with \(flag) \(error.reason).")
        }
        let address = ServiceSettings.numericAddress(listen)
        listening = TLSListening(host: address.host, port: address.port, context: context)
        warnings = zip(certificates, context.certificates).flatMap { path, certificate in
            Self.warnings(certificate, in: path, at: wallSeconds)
        }
    }

    /// The keys of tickets, for as long as the process runs.
    static func makeTicketKeys() throws(SettingsError) -> TLSTicketKeys {
        // The clock of the event loop.
        let now = DispatchTime.now().uptimeNanoseconds / 1_000_000_000
        guard let keys = TLSTicketKeys(at: now) else {
            throw SettingsError("The system has no random numbers for TLS.")
        }
        return keys
    }

    private static func paths(_ text: String?) -> [String] {
        (text ?? "").split(separator: ",").map { part in
            part.trimmingCharacters(in: .whitespaces)
        }
    }

    private static func warnings(
        _ certificate: TLSCertificate, in path: String, at wallSeconds: Int64
    ) -> [String] {
        var warnings: [String] = []
        let left = certificate.expiresSeconds - wallSeconds
        if left < noticeSeconds {
            warnings.append("the certificate in \(path) expires in \(left / 86_400) days")
        }
        if case .rsa = certificate.key {
            warnings.append(
                "the certificate in \(path) has an RSA key: a handshake costs more than twice as "
                    + "much as with P-256")
        }
        return warnings
    }

    /// A private key that all users of the machine can read is not private.
    private static func checkSecret(_ path: String) throws(SettingsError) {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        let mode = attributes?[.posixPermissions] as? Int ?? 0
        guard mode & 0o004 != 0 else { return }
        throw SettingsError(
            "The file \(path) given with --tls-key can be read by all users: chmod 640 it")
    }
}

extension TLSFiles {
    /// Logs the warnings; after a reload, only new ones.
    func warn(_ logger: Logger, before: TLSFiles? = nil) {
        for warning in warnings where before?.warnings.contains(warning) != true {
            logger.warning("\(warning)")
        }
    }
}

extension TLSCertificateError {
    /// Whether the file of the key is at fault.
    fileprivate var isOfKey: Bool {
        switch self {
        case .encryptedKey, .malformedKey, .otherKey: true
        default: false
        }
    }
}
