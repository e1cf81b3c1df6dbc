internal import Containers

/// What the service asks of a client of SCRAM, and how it verifies the answer.
public struct ScramChallenge: Hashable, Sendable {
    /// The message for the client: nonce, salt, iterations.
    public let message: [UInt8]
    private let request: ScramRequest
    /// The hash function of the mechanism.
    public let hash: ScramHash
    private let keys: ScramKeys
    /// The nonces of both sides.
    private let nonce: [UInt8]

    /// A challenge with keys of the account, or with decoys if it has none.
    public init(
        to request: ScramRequest, hash: ScramHash, keys: StoredKeys,
        using random: inout some RandomNumberGenerator
    ) {
        let bytes = (0..<18).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        self.init(to: request, hash: hash, keys: keys, nonce: Base64.encoded(bytes))
    }

    init(to request: ScramRequest, hash: ScramHash, keys: StoredKeys, nonce: [UInt8]) {
        self.request = request
        self.hash = hash
        self.keys = keys.keys(for: hash)
        self.nonce = request.nonce + nonce
        message =
            Array("r=".utf8) + self.nonce + Array(",s=".utf8) + Base64.encoded(keys.salt)
            + Array(",i=\(keys.iterations)".utf8)
    }

    /// Verifies the last message of the client, `c=header,r=nonce,p=proof`. Two keyed hashes.
    ///
    /// Returns the last message of the service, which proves that it has the keys.
    public func verify(_ final: [UInt8]) throws(SASLError) -> [UInt8] {
        guard final.count <= SASLLimits.messageBytesMax, !final.contains(0),
            String(validating: final, as: UTF8.self) != nil
        else { throw .malformed }
        var attributes = ScramAttributes(final[...])
        guard let binding = Base64.decoded(try attributes.value(of: "c")) else { throw .malformed }
        let nonce = try attributes.value(of: "r")
        var last = try attributes.next()
        while !attributes.isAtEnd {
            // A mandatory extension, and none is known (RFC 5802, 5.1).
            guard last.name != UInt8(ascii: "m") else { throw .malformed }
            last = try attributes.next()
        }
        let unsigned = final[..<(last.value.startIndex - 3)]
        guard last.name == UInt8(ascii: "p"), let proof = Base64.decoded(last.value),
            proof.count == hash.keyBytes
        else { throw .malformed }
        // Without channel binding it repeats the header, no more and no less. Otherwise the header
        // may have been changed in between, to make the client bind no channel.
        guard binding == request.header, nonce.elementsEqual(self.nonce) else {
            throw .notAuthorized
        }
        return try finalMessage(for: proof, unsigned: Array(unsigned))
    }

    private func finalMessage(for proof: [UInt8], unsigned: [UInt8]) throws(SASLError) -> [UInt8] {
        let comma = [UInt8(ascii: ",")]
        let signed = request.bare + comma + message + comma + unsigned
        let signature = hash.code(of: signed, key: keys.stored)
        let clientKey = zip(proof, signature).map { $0 ^ $1 }
        let serverSignature = hash.code(of: signed, key: keys.server)
        guard hash.hash(of: clientKey, is: keys.stored) else { throw .notAuthorized }
        return Array("v=".utf8) + Base64.encoded(serverSignature)
    }
}
