import Crypto
import FoundationEssentials

/// Encrypts a message for one browser, so that the push service cannot read it (RFC 8291).
enum PushEncryption {
    /// The most bytes of a message: every push service takes the 4,096 that it becomes (RFC 8291,
    /// 4).
    static let plaintextBytesMax = 3_993

    /// The body of a request: one record of the content coding `aes128gcm`.
    ///
    /// `ephemeral` and `salt`, 16 bytes, are random and for this message only.
    static func body(
        _ plaintext: [UInt8], for subscription: PushSubscription,
        ephemeral: P256.KeyAgreement.PrivateKey, salt: [UInt8]
    ) throws -> [UInt8] {
        let sender = [UInt8](ephemeral.publicKey.x963Representation)
        let receiver = [UInt8](subscription.key.x963Representation)
        let shared = try ephemeral.sharedSecretFromKeyAgreement(with: subscription.key)
        let material = shared.hkdfDerivedSymmetricKey(
            using: SHA256.self, salt: subscription.secret,
            sharedInfo: Array("WebPush: info\0".utf8) + receiver + sender, outputByteCount: 32)
        return try record(plaintext, material, salt: salt, keyID: sender)
    }

    /// The one record of a content, with its header (RFC 8188, 2).
    static func record(
        _ plaintext: [UInt8], _ material: SymmetricKey, salt: [UInt8], keyID: [UInt8]
    ) throws -> [UInt8] {
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: material, salt: salt,
            info: Array("Content-Encoding: aes128gcm\0".utf8), outputByteCount: 16)
        let nonce = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: material, salt: salt,
            info: Array("Content-Encoding: nonce\0".utf8), outputByteCount: 12)
        // 2 ends the last record.
        let sealed = try AES.GCM.seal(
            plaintext + [2], using: key,
            nonce: AES.GCM.Nonce(data: unsafe nonce.withUnsafeBytes { unsafe Array($0) }))
        // The header has the size of records, 4,096, and the length of the name of the key.
        let header = salt + [0, 0, 0x10, 0, UInt8(clamping: keyID.count)] + keyID
        return header + sealed.ciphertext + sealed.tag
    }
}
