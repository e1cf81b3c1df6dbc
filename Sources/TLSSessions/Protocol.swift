import COpenSSL

/// What both sides of a connection accept, apart from certificates.
enum Protocol {
    static let groups = "X25519:P-256"
    static let suites13 =
        "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    static let suites12 =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
        + "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"

    /// At least 112 bits: RSA from 2,048, no SHA-1.
    private static let securityLevel: CInt = 2

    /// Whether OpenSSL knows everything that is asked for.
    static func apply(
        to context: OpaquePointer, _ minimum: TLSContext.MinimumVersion
    ) -> Bool {
        let least = minimum == .tls13 ? TLS1_3_VERSION : TLS1_2_VERSION
        unsafe SSL_CTX_set_security_level(context, securityLevel)
        unsafe cssl_set_options(context)
        // Without it, an idle connection keeps 33 KB of buffers.
        unsafe cssl_set_mode(context, CLong(SSL_MODE_RELEASE_BUFFERS))
        unsafe cssl_set_session_cache(context, CLong(SSL_SESS_CACHE_OFF))
        unsafe SSL_CTX_set_msg_callback(context, cssl_count_message)
        return unsafe cssl_set_versions(context, least, TLS1_3_VERSION) == 1
            && SSL_CTX_set_ciphersuites(context, suites13) == 1
            && SSL_CTX_set_cipher_list(context, suites12) == 1
            && cssl_set_groups(context, groups) == 1
    }
}

/// Names of application protocols as they are sent (RFC 7301).
enum ALPN {
    /// Each name after its length. Names are of this program, and short.
    static func encode(_ names: [String]) -> [UInt8] {
        names.flatMap { name in [UInt8(clamping: name.utf8.count)] + Array(name.utf8) }
    }
}
