// The client's side, for the command and for tests.

import COpenSSL

/// What all sessions of a client share: the roots that it trusts, and what it offers.
@safe public final class TLSClientContext {
    /// Which certificates are trusted.
    public enum Trust: Sendable {
        /// The roots that the system trusts.
        case system
        /// These certificates only, as PEM.
        case certificates([UInt8])
    }

    /// What a client offers; tests change it to be rejected.
    struct Offer {
        var applicationProtocols = ["porchlight"]
        var least = TLS1_2_VERSION
        var most = TLS1_3_VERSION
        var groups = Protocol.groups
        var suites12 = Protocol.suites12
        var securityLevel: CInt = 2
        var recordsPerKey = TLSSession.recordsPerKey
    }

    let context: OpaquePointer
    let recordsPerKey: Int

    /// A context that offers the application protocol `porchlight`.
    ///
    /// - Throws: why the certificates cannot be used.
    public convenience init(_ trust: Trust) throws(TLSCertificateError) {
        try self.init(trust, Offer())
    }

    init(_ trust: Trust, _ offer: Offer) throws(TLSCertificateError) {
        defer { ErrorQueue.clear() }
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { throw .outOfMemory }
        unsafe self.context = context
        recordsPerKey = offer.recordsPerKey
        let encoded = ALPN.encode(offer.applicationProtocols)
        guard unsafe Protocol.apply(to: context, .tls12) else { throw .outOfMemory }
        unsafe SSL_CTX_set_security_level(context, offer.securityLevel)
        guard unsafe cssl_set_versions(context, offer.least, offer.most) == 1,
            unsafe SSL_CTX_set_cipher_list(context, offer.suites12) == 1,
            unsafe cssl_set_groups(context, offer.groups) == 1,
            // The only function of the library that returns 0 for success.
            unsafe encoded.isEmpty
                || SSL_CTX_set_alpn_protos(context, encoded, CUnsignedInt(encoded.count)) == 0
        else { throw .outOfMemory }
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        switch trust {
        case .system: unsafe SSL_CTX_set_default_verify_paths(context)
        case .certificates(let pem): try add(pem)
        }
    }

    deinit { unsafe SSL_CTX_free(context) }

    private func add(_ pem: [UInt8]) throws(TLSCertificateError) {
        guard let bio = unsafe PEM.memory(pem) else { throw .outOfMemory }
        defer { unsafe BIO_free(bio) }
        var count = 0
        while let root = unsafe PEM_read_bio_X509(bio, nil, cssl_no_password, nil) {
            defer { unsafe X509_free(root) }
            let store = unsafe SSL_CTX_get_cert_store(context)
            guard unsafe X509_STORE_add_cert(store, root) == 1 else { throw .malformedCertificate }
            count += 1
        }
        guard ErrorQueue.isEndOfPEM() else {
            throw count == 0 ? .malformedCertificate : .malformedChain(number: count + 1)
        }
        guard count > 0 else { throw .noCertificate }
    }
}

extension TLSClientContext: TLSContextOwner {}

/// Why a client does not accept a server's certificate.
public enum CertificateProblem: Hashable, Sendable {
    /// No chain leads to a certificate that is trusted.
    case unknownAuthority
    /// It is for another name or address.
    case wrongName
    case expired
    case notYetValid
    /// In the words of OpenSSL.
    case other(String)
}

extension TLSSession {
    /// The client's side of a connection to a server of this name, or at this address. Nil if
    /// memory is short, or the name cannot be one.
    ///
    /// Call `handshake` with no bytes to begin.
    public init?(_ context: TLSClientContext, serverName: String, at wallSeconds: Int64) {
        guard let ssl = unsafe Self.create(context.context) else { return nil }
        unsafe SSL_set_connect_state(ssl)
        guard unsafe Self.setName(serverName, of: ssl) else {
            unsafe SSL_free(ssl)
            return nil
        }
        unsafe X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl), time_t(wallSeconds))
        unsafe self.init(ssl, context)
    }

    /// Why the server's certificate was not accepted; nil if that is not the error.
    public var certificateProblem: CertificateProblem? {
        let code = unsafe SSL_get_verify_result(ssl)
        return switch CInt(truncatingIfNeeded: code) {
        case X509_V_OK: nil
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            .unknownAuthority
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: .wrongName
        case X509_V_ERR_CERT_HAS_EXPIRED: .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: .notYetValid
        default: .other(unsafe String(cString: X509_verify_cert_error_string(code)))
        }
    }

    private static func setName(_ name: String, of ssl: OpaquePointer) -> Bool {
        defer { ErrorQueue.clear() }
        // An address is checked, and not sent.
        if unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1 { return true }
        return unsafe SSL_set1_host(ssl, name) == 1 && cssl_set_server_name(ssl, name) == 1
    }
}
