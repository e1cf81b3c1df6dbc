import COpenSSL
import Synchronization

/// The keys that session tickets are encrypted with, for all contexts of a process.
///
/// Kept in memory only: after a restart, clients handshake in full. A key encrypts for 12 hours,
/// and decrypts until the last ticket made with it has expired. Contexts share the keys, so that
/// tickets are accepted after a reload that left the certificate as it was.
public final class TLSTicketKeys: Sendable {
    /// How long a ticket is accepted.
    public static let ticketSeconds: UInt64 = 24 * 3_600
    /// How long a key makes new tickets.
    public static let rotationSeconds: UInt64 = 12 * 3_600

    struct Key: Sendable {
        var name: [UInt8]
        var cipherKey: [UInt8]
        var macKey: [UInt8]
        /// From when on it makes tickets, by the caller's clock.
        var since: UInt64
    }

    /// The newest first. Never empty.
    private let keys: Mutex<[Key]>

    /// A first key. The clock is monotonic, in seconds. Nil if the system has no random numbers.
    public init?(at now: UInt64) {
        guard let key = Key(since: now) else { return nil }
        keys = Mutex([key])
    }

    /// Makes a new key if it is due, and forgets keys that no ticket needs. Returns when to call
    /// this again.
    ///
    /// Without random numbers the present key stays in use, and it is tried again a minute later.
    public func rotate(at now: UInt64) -> UInt64 {
        keys.withLock { keys in
            let due = keys[0].since + Self.rotationSeconds
            guard now >= due else { return due }
            guard let key = Key(since: now) else { return now + 60 }
            keys.insert(key, at: 0)
            // The second key made its last ticket now, any other one when its successor came.
            var last = now
            keys = keys.enumerated().filter { index, key in
                defer { if index > 0 { last = key.since } }
                return index == 0 || now - last < Self.ticketSeconds
            }.map(\.element)
            precondition(!keys.isEmpty && keys[0].since == now, "no key for new tickets")
            return now + Self.rotationSeconds
        }
    }

    var current: Key { keys.withLock { $0[0] } }

    /// The key with this name, and whether it is the current one.
    func find(_ name: [UInt8]) -> (key: Key, isCurrent: Bool)? {
        keys.withLock { keys in
            guard let index = keys.firstIndex(where: { $0.name == name }) else { return nil }
            return (keys[index], index == 0)
        }
    }

    var count: Int { keys.withLock { $0.count } }
}

extension TLSTicketKeys.Key {
    init?(since: UInt64) {
        guard let name = Self.random(CSSL_TICKET_NAME_BYTES),
            let cipherKey = Self.random(CSSL_TICKET_KEY_BYTES),
            let macKey = Self.random(CSSL_TICKET_KEY_BYTES)
        else { return nil }
        self.init(name: name, cipherKey: cipherKey, macKey: macKey, since: since)
    }

    private static func random(_ count: CInt) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: Int(count))
        defer { ErrorQueue.clear() }
        return unsafe RAND_priv_bytes(&bytes, count) == 1 ? bytes : nil
    }

    /// Prepares OpenSSL's encryption of one ticket.
    func protect(
        iv: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer, _ mac: OpaquePointer, isNew: Bool
    ) -> Bool {
        unsafe cssl_protect_ticket(cipherKey, macKey, iv, cipher, mac, isNew ? 1 : 0) == 1
    }
}
