import COpenSSL

/// Why a TLS connection failed. A closed set, for the label of a metric.
public enum TLSError: UInt8, Error, CaseIterable {
    /// The first bytes are not those of TLS.
    case notTLS
    /// The ClientHello is above the limit.
    case helloTooLong
    /// No protocol version that both sides accept.
    case noSharedVersion
    /// No cipher suite, group or kind of signature that both sides accept.
    case noSharedCipher
    /// The client offers application protocols, and none that is accepted.
    case noSharedProtocol
    /// A message that is not allowed, or not there.
    case malformed
    /// A record that was changed, or encrypted with another key.
    case corrupted
    /// The peer sent a fatal alert.
    case rejected
    /// The peer's certificate was not accepted. Only clients check one.
    case certificate
    /// More messages without application data than a connection may cause.
    case tooManyMessages
    /// Memory could not be allocated.
    case outOfMemory
    /// Anything else that OpenSSL reports.
    case other

    /// The label of metrics.
    public var label: String {
        switch self {
        case .notTLS: "not_tls"
        case .helloTooLong: "hello_too_long"
        case .noSharedVersion: "version"
        case .noSharedCipher: "cipher"
        case .noSharedProtocol: "protocol"
        case .malformed: "malformed"
        case .corrupted: "corrupted"
        case .rejected: "rejected"
        case .certificate: "certificate"
        case .tooManyMessages: "too_many_messages"
        case .outOfMemory: "memory"
        case .other: "other"
        }
    }
}

/// OpenSSL's queue of errors, which belongs to the thread and not to a session.
///
/// It must be empty before every call, because `SSL_get_error` reads it. So it is emptied after
/// every call that may have left something in it, and only here.
enum ErrorQueue {
    static var isEmpty: Bool { ERR_peek_error() == 0 }

    static func clear() {
        if !isEmpty { ERR_clear_error() }
    }

    /// Empties the queue; returns the reason that the TLS library itself gave, else the first one.
    static func take() -> (library: CInt, reason: CInt)? {
        var first: (library: CInt, reason: CInt)?
        defer { ERR_clear_error() }
        while true {
            let code = ERR_get_error()
            guard code != 0 else { return first }
            let entry = (library: ERR_GET_LIB(code), reason: ERR_GET_REASON(code))
            if entry.library == ERR_LIB_SSL { return entry }
            if first == nil { first = entry }
        }
    }

    static func takeError() -> TLSError {
        guard let (library, reason) = take() else { return .other }
        if reason == ERR_R_MALLOC_FAILURE { return .outOfMemory }
        guard library == ERR_LIB_SSL, reason != ERR_R_INTERNAL_ERROR else { return .other }
        return error(of: reason)
    }

    private static func error(ofAlert alert: CInt) -> TLSError {
        switch alert {
        case SSL_AD_PROTOCOL_VERSION: .noSharedVersion
        case SSL_AD_NO_APPLICATION_PROTOCOL: .noSharedProtocol
        default: .rejected
        }
    }

    private static func error(of reason: CInt) -> TLSError {
        // Alerts of the peer are numbered from there.
        if reason >= SSL_AD_REASON_OFFSET { return error(ofAlert: reason - SSL_AD_REASON_OFFSET) }
        return switch reason {
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_NO_PROTOCOLS_AVAILABLE, SSL_R_VERSION_TOO_LOW,
            SSL_R_WRONG_SSL_VERSION, SSL_R_UNKNOWN_PROTOCOL, SSL_R_INAPPROPRIATE_FALLBACK:
            .noSharedVersion
        case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SHARED_GROUPS, SSL_R_NO_SUITABLE_KEY_SHARE,
            SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS:
            .noSharedCipher
        case SSL_R_NO_APPLICATION_PROTOCOL: .noSharedProtocol
        case SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, SSL_R_BAD_RECORD_TYPE,
            SSL_R_DIGEST_CHECK_FAILED, SSL_R_DATA_LENGTH_TOO_LONG,
            SSL_R_ENCRYPTED_LENGTH_TOO_LONG:
            .corrupted
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_WRONG_VERSION_NUMBER: .notTLS
        case SSL_R_CERTIFICATE_VERIFY_FAILED: .certificate
        default: .malformed
        }
    }
}
