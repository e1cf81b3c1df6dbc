import Containers

@testable import Passwords

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

func base64(_ text: String) throws -> [UInt8] {
    struct NoBase64Error: Error {}
    guard let bytes = Base64.decoded(text.utf8) else { throw NoBase64Error() }
    return bytes
}

/// A client of SCRAM, as RFC 5802 describes it.
struct ScramClient {
    let hash: ScramHash
    let password: Password
    var header = "n,,"
    var name = "user"
    var nonce = "fyko+d2lbbFgONRv9qkxdawL"

    var bare: String { "n=\(name),r=\(nonce)" }
    var first: [UInt8] { bytes(header + bare) }

    /// The last message, and what the service must answer.
    func final(
        to challenge: [UInt8], extensions: String = ""
    ) throws -> (message: [UInt8], answer: [UInt8]) {
        let text = String(decoding: challenge, as: UTF8.self)
        let parts = text.split(separator: ",").map { String($0.dropFirst(2)) }
        let salted = hash.saltedPassword(
            password, salt: try base64(parts[1]), iterations: Int(parts[2]) ?? 1)
        let clientKey = hash.code(of: bytes("Client Key"), key: salted)
        let binding = String(decoding: Base64.encoded(bytes(header)), as: UTF8.self)
        let unsigned = "c=\(binding),r=\(parts[0])\(extensions)"
        let signed = bytes("\(bare),\(text),\(unsigned)")
        let signature = hash.code(of: signed, key: hash.hash(of: clientKey))
        let proof = zip(clientKey, signature).map { $0 ^ $1 }
        let serverKey = hash.code(of: bytes("Server Key"), key: salted)
        return (
            bytes(unsigned + ",p=") + Base64.encoded(proof),
            bytes("v=") + Base64.encoded(hash.code(of: signed, key: serverKey))
        )
    }
}
