import COpenSSL
import Containers

/// A certificate with its chain and its private key, as PEM.
public struct TLSCertificateFiles: Sendable {
    /// The certificate of the server, then those that lead to a root.
    public var chain: [UInt8]
    /// The private key of the first one. Not encrypted.
    public var key: [UInt8]

    /// Both, as they were read.
    public init(chain: [UInt8], key: [UInt8]) {
        self.chain = chain
        self.key = key
    }
}

/// What is public of a certificate that is in use.
public struct TLSCertificate: Hashable, Sendable {
    /// The kind of a key; it determines what a handshake costs.
    public enum KeyKind: Hashable, Sendable {
        case ellipticCurve(bits: Int)
        /// A handshake costs more than twice as much.
        case rsa(bits: Int)
        case other
    }

    /// Whether a certificate is valid at a time. One that is not valid can be served: clients that
    /// check it reject it, others connect.
    public enum Validity: Hashable, Sendable {
        case valid
        case expired
        case notYetValid
    }

    /// The DNS names that the certificate is for, in lower case; they may begin with `*.`.
    public let names: [String]
    /// From when on it is valid: seconds since 1970 UTC.
    public let validFromSeconds: Int64
    /// Until when it is valid: seconds since 1970 UTC.
    public let expiresSeconds: Int64
    /// The kind of its key.
    public let key: KeyKind
    /// Certificates that are sent after it.
    public let intermediates: Int
    /// A hash of the certificate.
    let digest: [UInt8]
}

/// Why a certificate cannot be used.
public enum TLSCertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    case noCertificate
    case malformedCertificate
    case malformedChain(number: Int)
    case weakCertificate
    case encryptedKey
    case malformedKey
    case otherKey
    case noCertificates
    case outOfMemory

    /// What is wrong, as the end of a sentence about the file.
    public var description: String {
        switch self {
        case .noCertificate: "has no certificate in PEM form"
        case .malformedCertificate: "has a certificate that cannot be parsed"
        case .malformedChain(let number):
            "has a certificate that cannot be parsed (number \(number) in the file)"
        case .weakCertificate: "has a certificate with a key or a signature that is too weak"
        case .encryptedKey: "has a private key that is encrypted; store it without a password"
        case .malformedKey: "has no private key in PEM form"
        case .otherKey: "has a private key that does not belong to the certificate"
        case .noCertificates: "has no certificate"
        case .outOfMemory: "cannot be loaded: out of memory"
        }
    }
}

/// Reads PEM into a context of OpenSSL.
enum PEM {
    /// Makes the context use the certificate, its chain and its key.
    static func load(
        _ files: TLSCertificateFiles, into context: OpaquePointer
    ) throws(TLSCertificateError) -> TLSCertificate {
        defer { ErrorQueue.clear() }
        let (leaf, intermediates) = try unsafe loadChain(files.chain, into: context)
        defer { unsafe X509_free(leaf) }
        try unsafe loadKey(files.key, into: context)
        guard let digest = unsafe Digest.sha256(of: leaf) else { throw .outOfMemory }
        return unsafe TLSCertificate(leaf, intermediates: intermediates, digest: digest)
    }

    private static func loadChain(
        _ pem: [UInt8], into context: OpaquePointer
    ) throws(TLSCertificateError) -> (leaf: OpaquePointer, intermediates: Int) {
        guard let bio = unsafe memory(pem) else { throw .outOfMemory }
        defer { unsafe BIO_free(bio) }
        guard let leaf = unsafe PEM_read_bio_X509(bio, nil, cssl_no_password, nil) else {
            throw ErrorQueue.isEndOfPEM() ? .noCertificate : .malformedCertificate
        }
        var count = 0
        do throws(TLSCertificateError) {
            guard unsafe SSL_CTX_use_certificate(context, leaf) == 1 else {
                throw .weakCertificate
            }
            while let next = unsafe PEM_read_bio_X509(bio, nil, cssl_no_password, nil) {
                count += 1
                guard unsafe cssl_add_chain_certificate(context, next) == 1 else {
                    unsafe X509_free(next)
                    throw .weakCertificate
                }
            }
            guard ErrorQueue.isEndOfPEM() else { throw .malformedChain(number: count + 2) }
        } catch {
            unsafe X509_free(leaf)
            throw error
        }
        return unsafe (leaf, count)
    }

    private static func loadKey(
        _ pem: [UInt8], into context: OpaquePointer
    ) throws(TLSCertificateError) {
        guard let bio = unsafe memory(pem) else { throw .outOfMemory }
        defer { unsafe BIO_free(bio) }
        guard let key = unsafe PEM_read_bio_PrivateKey(bio, nil, cssl_no_password, nil) else {
            throw isEncrypted(pem) ? .encryptedKey : .malformedKey
        }
        defer { unsafe EVP_PKEY_free(key) }
        guard unsafe SSL_CTX_use_PrivateKey(context, key) == 1,
            unsafe SSL_CTX_check_private_key(context) == 1
        else { throw .otherKey }
    }

    /// Both forms of an encrypted key say so in plain text.
    private static func isEncrypted(_ pem: [UInt8]) -> Bool {
        String(decoding: pem, as: UTF8.self).contains("ENCRYPTED")
    }

    /// A BIO that reads a copy of `bytes`.
    static func memory(_ bytes: [UInt8]) -> OpaquePointer? {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { return nil }
        guard let count = CInt(exactly: bytes.count),
            unsafe BIO_write(bio, bytes, count) == count || count == 0
        else {
            unsafe BIO_free(bio)
            return nil
        }
        return unsafe bio
    }
}

/// SHA-256. Nil if memory is short.
enum Digest {
    static func sha256(_ bytes: [UInt8]) -> [UInt8]? {
        unsafe hash { place, count in
            unsafe EVP_Digest(bytes, bytes.count, place, count, EVP_sha256(), nil)
        }
    }

    /// Of the bytes of a certificate.
    static func sha256(of certificate: OpaquePointer) -> [UInt8]? {
        unsafe hash { place, count in unsafe X509_digest(certificate, EVP_sha256(), place, count) }
    }

    private static func hash(
        _ fill: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<CUnsignedInt>) -> CInt
    ) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        var count: CUnsignedInt = 0
        let isDone = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            guard let place = bytes.baseAddress else { return false }
            return unsafe fill(place, &count) == 1
        }
        return isDone && Int(count) == bytes.count ? bytes : nil
    }
}

extension ErrorQueue {
    /// Whether reading PEM has ended because there is no more of it. Empties the queue.
    static func isEndOfPEM() -> Bool {
        guard let (library, reason) = take() else { return false }
        return library == ERR_LIB_PEM && reason == PEM_R_NO_START_LINE
    }
}

extension TLSCertificate {
    init(_ leaf: OpaquePointer, intermediates: Int, digest: [UInt8]) {
        let names = Names()
        let place = unsafe Unmanaged.passUnretained(names).toOpaque()
        unsafe cssl_each_name(leaf, place) { names, start, count in
            guard let names = unsafe names, let start = unsafe start, count > 0 else { return }
            unsafe Unmanaged<Names>.fromOpaque(names).takeUnretainedValue().append(
                UnsafeBufferPointer(start: start, count: Int(count)))
        }
        self.names = names.all
        validFromSeconds = unsafe cssl_seconds(X509_get0_notBefore(leaf))
        expiresSeconds = unsafe cssl_seconds(X509_get0_notAfter(leaf))
        self.intermediates = intermediates
        self.digest = digest
        let key = unsafe X509_get0_pubkey(leaf)
        let bits = unsafe Int(EVP_PKEY_get_bits(key))
        self.key =
            switch unsafe EVP_PKEY_get_base_id(key) {
            case EVP_PKEY_EC: .ellipticCurve(bits: bits)
            case EVP_PKEY_RSA, EVP_PKEY_RSA_PSS: .rsa(bits: bits)
            default: .other
            }
    }

    /// What its dates say about a time, in seconds since 1970 UTC.
    public func validity(at wallSeconds: Int64) -> Validity {
        if wallSeconds >= expiresSeconds { return .expired }
        return wallSeconds < validFromSeconds ? .notYetValid : .valid
    }

    private final class Names {
        var all: [String] = []

        func append(_ bytes: UnsafeBufferPointer<UInt8>) {
            let name = unsafe ExactText(String(decoding: bytes, as: UTF8.self))
            all.append(name.lowercasedASCII.text)
        }
    }
}
