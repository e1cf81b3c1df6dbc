// What all sessions of a server share: certificates by name, protocols and ticket keys.
//
// A context never changes: a reload makes a new one. Sessions keep the one that they began with.

import COpenSSL

// SAFETY: Nothing changes after `init`; OpenSSL counts references to its contexts atomically, and
// the ticket keys have a lock of their own.

/// What all sessions of a server share.
@safe public final class TLSContext: @unchecked Sendable {
    /// The oldest version of the protocol that is accepted.
    public enum MinimumVersion: String, CaseIterable, Sendable {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    /// What listens with a context. A session is resumed only where it began.
    public enum Listener: String, CaseIterable, Sendable {
        case clients
        case http
        /// XMPP clients, which begin TLS by STARTTLS.
        case xmpp
        /// XMPP clients that begin with TLS (XEP-0368).
        case xmppOverTLS

        /// The application protocols, the preferred one first.
        var protocols: [String] {
            switch self {
            case .clients: ["porchlight", "http/1.1"]
            case .http: ["http/1.1"]
            case .xmpp, .xmppOverTLS: ["xmpp-client"]
            }
        }
    }

    /// The certificates, in the order in which they were given.
    public let certificates: [TLSCertificate]

    /// One for each certificate.
    private let contexts: [OpaquePointer]
    private let listener: Listener
    private let byName: ServerNames
    /// The keys of tickets; all contexts of a service share them.
    public let tickets: TLSTicketKeys
    /// The application protocols as ALPN encodes them. OpenSSL keeps pointers into it.
    private let protocols: UnsafeMutableBufferPointer<UInt8>
    let recordsPerKey: Int

    /// A context with these certificates. The first one is for clients that name no server, or one
    /// that no certificate is for. Dates are not looked at: see `TLSCertificate.validity`.
    ///
    /// - Throws: why one of them is rejected, with its position.
    public convenience init(
        _ files: [TLSCertificateFiles], minimum: MinimumVersion = .tls12, tickets: TLSTicketKeys,
        listener: Listener = .clients
    ) throws(TLSContextError) {
        try self.init(
            files, minimum: minimum, tickets: tickets, listener: listener,
            recordsPerKey: TLSSession.recordsPerKey)
    }

    init(
        _ files: [TLSCertificateFiles], minimum: MinimumVersion, tickets: TLSTicketKeys,
        listener: Listener = .clients, recordsPerKey: Int
    ) throws(TLSContextError) {
        guard !files.isEmpty else { throw TLSContextError(number: 0, .noCertificates) }
        var certificates: [TLSCertificate] = []
        var contexts: [OpaquePointer] = unsafe []
        for (number, files) in files.enumerated() {
            do throws(TLSCertificateError) {
                guard let context = unsafe Self.create(minimum) else { throw .outOfMemory }
                unsafe contexts.append(context)
                certificates.append(try unsafe PEM.load(files, into: context))
            } catch {
                unsafe contexts.forEach { unsafe SSL_CTX_free($0) }
                throw TLSContextError(number: number, error)
            }
        }
        self.certificates = certificates
        self.listener = listener
        unsafe self.contexts = contexts
        self.tickets = tickets
        self.recordsPerKey = recordsPerKey
        byName = ServerNames(certificates.map(\.names))
        let encoded = ALPN.encode(listener.protocols)
        unsafe self.protocols = .allocate(capacity: encoded.count)
        _ = unsafe self.protocols.initialize(from: encoded)
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe contexts.forEach { unsafe cssl_set_owner($0, owner) }
    }

    deinit {
        unsafe contexts.forEach { unsafe SSL_CTX_free($0) }
        unsafe protocols.deallocate()
    }

    /// Whether a certificate is for this name. Clients that name another one get the first.
    public func hasCertificate(for name: String) -> Bool { byName.find(name) != nil }

    /// The context of the first certificate, with which sessions begin.
    var defaultContext: OpaquePointer { unsafe contexts[0] }

    /// A context of OpenSSL without a certificate.
    private static func create(_ minimum: MinimumVersion) -> OpaquePointer? {
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else { return nil }
        guard unsafe Protocol.apply(to: context, minimum) else {
            unsafe SSL_CTX_free(context)
            return nil
        }
        // One ticket: each further one costs 250 bytes and 20 µs of a handshake.
        unsafe SSL_CTX_set_num_tickets(context, 1)
        unsafe SSL_CTX_set_timeout(context, CLong(TLSTicketKeys.ticketSeconds))
        unsafe SSL_CTX_set_max_early_data(context, 0)
        unsafe SSL_CTX_set_tlsext_ticket_key_evp_cb(context, protectTicket)
        unsafe SSL_CTX_set_client_hello_cb(context, chooseCertificate, nil)
        unsafe cssl_set_server_name_callback(context, confirmName)
        unsafe SSL_CTX_set_alpn_select_cb(context, chooseProtocol, nil)
        return unsafe context
    }
}

extension TLSContext: TLSContextOwner {}

/// Which certificate is rejected, and why.
public struct TLSContextError: Error, Hashable, Sendable {
    /// The position of the certificate in the list.
    public let number: Int
    /// Why it is rejected.
    public let reason: TLSCertificateError

    init(number: Int, _ reason: TLSCertificateError) {
        self.number = number
        self.reason = reason
    }
}

// MARK: - What OpenSSL asks

extension TLSContext {
    fileprivate static func of(_ ssl: OpaquePointer?) -> TLSContext? {
        guard let owner = unsafe cssl_owner(ssl) else { return nil }
        return unsafe Unmanaged<TLSContext>.fromOpaque(owner).takeUnretainedValue()
    }

    /// Chooses the certificate before OpenSSL looks at a ticket, which is for one certificate. Its
    /// own callback for the name comes after that.
    ///
    /// A name that no certificate is for gets the first one: an alert would reveal which names
    /// exist, and addresses have no name.
    fileprivate func choose(for ssl: OpaquePointer) -> Bool {
        var start: UnsafePointer<UInt8>?
        let count = unsafe cssl_hello_server_name(ssl, &start)
        let name = unsafe Array(UnsafeBufferPointer(start: start, count: count))
        let number = byName.find(String(decoding: name, as: UTF8.self)) ?? 0
        guard unsafe SSL_set_SSL_CTX(ssl, contexts[number]) != nil else { return false }
        return unsafe bindTickets(of: ssl, to: certificates[number], name)
    }

    /// Has a session continue only at the listener, with the certificate and under the name that it
    /// began with: tickets contain this hash. A client that resumes does not look at a certificate
    /// again, so it would accept another one unseen, and a replaced one for another day. That the
    /// name must be the same is a duty of TLS 1.2 (RFC 6066, 3).
    private func bindTickets(
        of ssl: OpaquePointer, to certificate: TLSCertificate, _ name: [UInt8]
    ) -> Bool {
        let bound = Array(listener.rawValue.utf8) + [0] + certificate.digest + name
        guard let hash = Digest.sha256(bound) else { return false }
        return unsafe SSL_set_session_id_context(ssl, hash, CUnsignedInt(hash.count)) == 1
    }

    /// Whether the name that the client gave was used.
    fileprivate func confirm(_ ssl: OpaquePointer) -> Bool {
        guard let name = unsafe SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else {
            return false
        }
        return hasCertificate(for: unsafe String(cString: name))
    }

    fileprivate func select(
        _ offered: UnsafePointer<UInt8>, _ count: CUnsignedInt,
        _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>,
        _ selectedCount: UnsafeMutablePointer<UInt8>
    ) -> CInt {
        var start: UnsafeMutablePointer<UInt8>?
        let result = unsafe SSL_select_next_proto(
            &start, selectedCount, protocols.baseAddress, CUnsignedInt(protocols.count), offered,
            count)
        guard result == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        unsafe selected.pointee = unsafe UnsafePointer(start)
        return SSL_TLSEXT_ERR_OK
    }

    /// Returns what OpenSSL expects: 1 for success, 2 if the ticket is to be replaced, 0 if its
    /// key is not known, less than 0 to abort.
    fileprivate func protect(
        _ name: UnsafeMutableBufferPointer<UInt8>, _ iv: UnsafeMutablePointer<UInt8>,
        _ cipher: OpaquePointer, _ mac: OpaquePointer, isNew: Bool
    ) -> CInt {
        if isNew {
            let key = tickets.current
            _ = unsafe name.update(from: key.name)
            return unsafe key.protect(iv: iv, cipher, mac, isNew: true) ? 1 : -1
        }
        guard let (key, isCurrent) = tickets.find(unsafe Array(name)) else { return 0 }
        guard unsafe key.protect(iv: iv, cipher, mac, isNew: false) else { return -1 }
        return isCurrent ? 1 : 2
    }
}

private func chooseCertificate(
    _ ssl: OpaquePointer?, _ alert: UnsafeMutablePointer<CInt>?,
    _ argument: UnsafeMutableRawPointer?
) -> CInt {
    guard let ssl = unsafe ssl, let context = unsafe TLSContext.of(ssl),
        unsafe context.choose(for: ssl)
    else {
        unsafe alert?.pointee = SSL_AD_INTERNAL_ERROR
        return SSL_CLIENT_HELLO_ERROR
    }
    return SSL_CLIENT_HELLO_SUCCESS
}

private func confirmName(
    _ ssl: OpaquePointer?, _ alert: UnsafeMutablePointer<CInt>?,
    _ argument: UnsafeMutableRawPointer?
) -> CInt {
    guard let ssl = unsafe ssl, let context = unsafe TLSContext.of(ssl),
        unsafe context.confirm(ssl)
    else { return SSL_TLSEXT_ERR_NOACK }
    return SSL_TLSEXT_ERR_OK
}

private func chooseProtocol(
    _ ssl: OpaquePointer?, _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedCount: UnsafeMutablePointer<UInt8>?, _ offered: UnsafePointer<UInt8>?,
    _ count: CUnsignedInt, _ argument: UnsafeMutableRawPointer?
) -> CInt {
    guard let context = unsafe TLSContext.of(ssl), let selected = unsafe selected,
        let selectedCount = unsafe selectedCount, let offered = unsafe offered
    else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    return unsafe context.select(offered, count, selected, selectedCount)
}

private func protectTicket(
    _ ssl: OpaquePointer?, _ name: UnsafeMutablePointer<UInt8>?,
    _ iv: UnsafeMutablePointer<UInt8>?, _ cipher: OpaquePointer?, _ mac: OpaquePointer?,
    _ isNew: CInt
) -> CInt {
    guard let context = unsafe TLSContext.of(ssl), let name = unsafe name, let iv = unsafe iv,
        let cipher = unsafe cipher, let mac = unsafe mac
    else { return -1 }
    let whole = unsafe UnsafeMutableBufferPointer(start: name, count: Int(CSSL_TICKET_NAME_BYTES))
    return unsafe context.protect(whole, iv, cipher, mac, isNew: isNew != 0)
}
