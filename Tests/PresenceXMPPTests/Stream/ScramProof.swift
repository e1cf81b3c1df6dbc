import Containers

@testable import Passwords

/// The client's side of SCRAM.
struct ScramProof {
    let hash: ScramHash
    let password: String

    /// The last message of a client.
    func message(bare: String, header: String, challenge: String) throws -> String {
        let parts = challenge.split(separator: ",").map { String($0.dropFirst(2)) }
        let salted = hash.saltedPassword(
            try Password(bytes(password)), salt: Base64.decoded(parts[1].utf8) ?? [0],
            iterations: Int(parts[2]) ?? 1)
        let clientKey = hash.code(of: bytes("Client Key"), key: salted)
        let unsigned = "c=\(base64(header)),r=\(parts[0])"
        let signature = hash.code(
            of: bytes("\(bare),\(challenge),\(unsigned)"), key: hash.hash(of: clientKey))
        let proof = zip(clientKey, signature).map { $0 ^ $1 }
        return "\(unsigned),p=\(text(Base64.encoded(proof)))"
    }
}
