import CommandSupport
import Dispatch
import Foundation
import Logging
import PresenceServer
import TLSSessions

/// The settings of TLS.
struct TLSChoices: Sendable {
    /// Where clients connect over TLS, if at all.
    var listen: String?
    /// Where app servers do.
    var http: String?
    /// Where XMPP clients connect, and may begin TLS if there is a certificate.
    var xmpp: String?
    /// Where XMPP clients connect over TLS.
    var xmppOverTLS: String?
    /// The files with certificates, with commas between them.
    var certificatePaths: String?
    /// The files with their keys, in the same order.
    var keyPaths: String?
    var minimum = TLSContext.MinimumVersion.tls12

    /// Whether certificates are used: where something is served over TLS, or TLS may begin later.
    var hasCertificates: Bool {
        listen != nil || http != nil || xmppOverTLS != nil
            || xmpp != nil && certificatePaths != nil
    }
}

/// The certificates and keys that settings name, ready for use. They take effect whole or not at
/// all.
struct TLSFiles: Sendable {
    /// Where clients connect over TLS; nil: nowhere.
    let listening: TLSListening?
    /// What the HTTP API serves over TLS with; nil: it does not.
    let http: TLSContext?
    /// What XMPP clients are served over TLS with; nil: they are not.
    let xmpp: XMPPContexts?
    /// What the operator should know about these files.
    let warnings: [String]
    /// The certificates, in the order in which they are named.
    let certificates: [ServedCertificate]

    /// Reads the files. XMPP clients expect a certificate for each of the domains. One that is not
    /// valid at `wallSeconds` is used, with a warning.
    ///
    /// - Throws: which file, and what would be right; never the content.
    init(
        _ settings: ServiceSettings, tickets: TLSTicketKeys, _ occasion: ReadOccasion = .startup,
        at wallSeconds: Int64 = Int64(Date().timeIntervalSince1970)
    ) throws(SettingsError) {
        let (choices, places) = (settings.tls, settings.places)
        guard choices.hasCertificates else {
            listening = nil
            http = nil
            xmpp = nil
            warnings = []
            certificates = []
            return
        }
        let pairs = try Self.pairs(choices)
        let files = try Self.read(pairs, places, occasion)
        func context(_ listener: TLSContext.Listener) throws(SettingsError) -> TLSContext {
            do throws(TLSContextError) {
                return try TLSContext(
                    files, minimum: choices.minimum, tickets: tickets, listener: listener)
            } catch {
                let pair = pairs[error.number]
                let (path, name) =
                    error.reason.isOfKey
                    ? (pair.key, "tls-key") : (pair.certificate, "tls-certificate")
                throw SettingsError("The file \(path) \(places[name]) \(error.reason).")
            }
        }
        let ofClients = try context(.clients)
        listening = choices.listen.map { listen in
            let address = ServiceSettings.numericAddress(listen)
            return TLSListening(host: address.host, port: address.port, context: ofClients)
        }
        http = choices.http == nil ? nil : try context(.http)
        let servesXMPP = choices.xmpp != nil || choices.xmppOverTLS != nil
        xmpp =
            servesXMPP
            ? XMPPContexts(startTLS: try context(.xmpp), overTLS: try context(.xmppOverTLS)) : nil
        certificates = zip(pairs, zip(files, ofClients.certificates)).map { pair, content in
            ServedCertificate(
                path: pair.certificate, chain: content.0.chain, certificate: content.1)
        }
        let withoutCertificate = settings.xmpp.domainsOfCertificates.filter {
            servesXMPP && !ofClients.hasCertificate(for: $0)
        }
        warnings =
            certificates.warnings(at: wallSeconds) + certificates.compactMap(Self.warning)
            + withoutCertificate.map {
                "no certificate of tls-certificate is valid for \($0) of xmpp-domain: XMPP clients "
                    + "will not connect"
            }
    }

    /// The paths of each certificate and its key.
    private static func pairs(
        _ choices: TLSChoices
    ) throws(SettingsError) -> [(certificate: String, key: String)] {
        let certificates = paths(choices.certificatePaths)
        let keys = paths(choices.keyPaths)
        guard certificates.count == keys.count else {
            throw SettingsError(
                "tls-certificate names \(certificates.count) files and tls-key \(keys.count): each "
                    + "certificate needs its key, in the same order")
        }
        return Array(zip(certificates, keys))
    }

    /// The content of each pair. All files are read, so that what is wrong is said at once.
    private static func read(
        _ pairs: [(certificate: String, key: String)], _ places: SettingPlaces,
        _ occasion: ReadOccasion
    ) throws(SettingsError) -> [TLSCertificateFiles] {
        var files: [TLSCertificateFiles] = []
        var messages: [String] = []
        for (certificate, key) in pairs {
            let chain = Result { () throws(SettingsError) in
                try readSecretFile(certificate, places["tls-certificate"], occasion)
            }
            let secret = Result { () throws(SettingsError) in
                try checkSecret(key, places["tls-key"])
                return try readSecretFile(key, places["tls-key"], occasion)
            }
            messages += chain.messages + secret.messages
            guard messages.isEmpty else { continue }
            files.append(TLSCertificateFiles(chain: try chain.get(), key: try secret.get()))
        }
        guard messages.isEmpty else { throw SettingsError(messages) }
        return files
    }

    /// What the log says about certificates that others have replaced, a line each.
    func changes(to other: TLSFiles) -> [String] {
        zip(certificates, other.certificates).filter { $0.chain != $1.chain }.map {
            "certificate replaced: \(cut($1.path))"
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

    /// What a key costs.
    private static func warning(_ served: ServedCertificate) -> String? {
        guard case .rsa = served.certificate.key else { return nil }
        return "the certificate in \(served.path) has an RSA key: a handshake costs more than "
            + "twice as much as with P-256"
    }

    /// A private key that all users of the machine can read is not private.
    private static func checkSecret(_ path: String, _ place: String) throws(SettingsError) {
        guard isReadableByAll(path) else { return }
        throw SettingsError(
            "The file \(path) \(place) can be read by all users: chmod 640 it")
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
    /// Whether the file of the key is invalid.
    fileprivate var isOfKey: Bool {
        switch self {
        case .encryptedKey, .malformedKey, .otherKey: true
        default: false
        }
    }
}
