import Containers
import Crypto
import Foundation
import Testing

@testable import WebPush

@Suite struct `Web Push encryption` {
    private func bytes(_ text: String) throws -> [UInt8] {
        try #require(Base64URL.decoded(text.utf8))
    }

    private func subscription(_ key: String, _ secret: String) throws -> PushSubscription {
        try PushSubscription(
            #"{"endpoint":"https://a/","keys":{"p256dh":"\#(key)","auth":"\#(secret)"}}"#)
    }

    /// RFC 8291, 5 and Appendix A.
    @Test func `is that of RFC 8291`() throws {
        let body = try PushEncryption.body(
            Array("When I grow up, I want to be a watermelon".utf8),
            for: subscription(
                "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNt"
                    + "oIAiw4", "BTBZMqHH6r4Tts7J_aSIgg"),
            ephemeral: P256.KeyAgreement.PrivateKey(
                rawRepresentation: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")),
            salt: bytes("DGv6ra1nlYgDCS1FRnbzlw"))
        #expect(
            Base64URL.encoded(body)
                == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"
                + "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"
                + "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
    }

    /// RFC 8188, 3.1.
    @Test func `has a record of RFC 8188`() throws {
        let record = try PushEncryption.record(
            Array("I am the walrus".utf8),
            SymmetricKey(data: bytes("yqdlZ-tYemfogSmv7Ws5PQ")),
            salt: bytes("I1BsxtFttlv3u_Oo94xnmw"), keyID: [])
        #expect(
            Base64URL.encoded(record)
                == "I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
    }

    @Test func `of the longest message is what every push service takes`() throws {
        let browser = P256.KeyAgreement.PrivateKey()
        let point = Base64URL.encoded([UInt8](browser.publicKey.x963Representation))
        let body = try PushEncryption.body(
            [UInt8](repeating: 0x61, count: PushEncryption.plaintextBytesMax),
            for: subscription(point, Base64URL.encoded([UInt8](repeating: 7, count: 16))),
            ephemeral: P256.KeyAgreement.PrivateKey(), salt: [UInt8](repeating: 9, count: 16))
        #expect(body.count == 4_096)
    }
}
