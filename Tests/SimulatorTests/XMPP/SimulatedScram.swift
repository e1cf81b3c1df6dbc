import Containers

@testable import Passwords

/// What clients have derived from passwords, so that each is derived once.
final class SaltedPasswords {
    private struct Key: Hashable {
        let password: String
        let salt: String
        let hash: ScramHash
    }

    private var salted: [Key: [UInt8]] = [:]

    /// The salted password; nil if a challenge is none.
    fileprivate func salted(
        _ password: String, _ salt: String, _ iterations: String, _ hash: ScramHash
    ) -> [UInt8]? {
        let key = Key(password: password, salt: salt, hash: hash)
        if let known = salted[key] { return known }
        guard let bytes = Base64.decoded(salt.utf8), let iterations = Int(iterations),
            let prepared = try? Password(Array(password.utf8))
        else { return nil }
        salted[key] = hash.saltedPassword(prepared, salt: bytes, iterations: iterations)
        return salted[key]
    }
}

/// The client's side of one exchange of SCRAM (RFC 5802).
struct SimulatedScram {
    let hash: ScramHash
    let password: String
    private let bare: String
    private let nonce: String
    /// What the service has to prove; nil: it has not been asked yet.
    private(set) var serverSignature: String?

    init(_ hash: ScramHash, account: String, password: String, nonce: String) {
        self.hash = hash
        self.password = password
        self.nonce = nonce
        bare = "n=\(account),r=\(nonce)"
    }

    var mechanism: String {
        switch hash {
        case .sha1: "SCRAM-SHA-1"
        case .sha256: "SCRAM-SHA-256"
        }
    }

    var firstMessage: String { "n,,\(bare)" }

    /// The answer to a challenge; nil if that cannot be right.
    mutating func finalMessage(to challenge: String, _ known: SaltedPasswords) -> String? {
        let parts = challenge.split(separator: ",")
        guard parts.count == 3, serverSignature == nil, parts[0].hasPrefix("r=\(nonce)"),
            parts[0].utf8.count > nonce.utf8.count + 2, parts[1].hasPrefix("s="),
            parts[2].hasPrefix("i="),
            let salted = known.salted(
                password, String(parts[1].dropFirst(2)), String(parts[2].dropFirst(2)), hash)
        else { return nil }
        let unsigned = "c=biws,\(parts[0])"
        let signed = Array("\(bare),\(challenge),\(unsigned)".utf8)
        let clientKey = hash.code(of: Array("Client Key".utf8), key: salted)
        let serverKey = hash.code(of: Array("Server Key".utf8), key: salted)
        let signature = hash.code(of: signed, key: hash.hash(of: clientKey))
        serverSignature = Self.base64(hash.code(of: signed, key: serverKey))
        return "\(unsigned),p=\(Self.base64(zip(clientKey, signature).map { $0 ^ $1 }))"
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encoded(bytes), as: UTF8.self)
    }
}
