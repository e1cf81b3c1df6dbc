import PresenceCore
import Testing

@testable import PresenceTokens

/// The examples of the RFCs. None of them names an account: that this is what is wrong with them,
/// and not the signature, says that the signature holds.
@Suite struct `The RFCs' tokens` {
    static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0"
        + "cnVlfQ"
    static let expires: Int64 = 1_300_819_380_000

    /// RFC 7515 A.1, A.2, A.3: the key, the header, and the signature.
    static let examples: [(String, String, String)] = [
        (
            #"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj"#
                + #"0iPS4hcgUuTwjAzZr1Z9CAow"}"#,
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9",
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        ),
        (
            #"{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W"#
                + "26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOW"
                + "vG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-"
                + "UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-D"
                + #"WNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}"#,
            "eyJhbGciOiJSUzI1NiJ9",
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_"
                + "O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h"
                + "6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsq"
                + "tFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVm"
                + "tVrBp0igcN_IoypGlUPQGe77Rw"
        ),
        (
            #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
                + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
            "eyJhbGciOiJFUzI1NiJ9",
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        ),
    ]

    @Test(arguments: examples)
    func `of RFC 7515 are signed`(
        key: String, header: String, signature: String
    ) async throws {
        let keys = try await KeySet(file: bytes(key))
        let verifier = TokenVerifier(keys: keys, rules: TokenRules(issuer: "joe"))
        let token = bytes("\(header).\(Self.claims).\(signature)")
        #expect(await verifier.error(token, at: Self.expires) == .subject)
        #expect(await verifier.error(token, at: Self.expires + 30_000) == .expired)
        var other = token
        other[header.utf8.count + 5] ^= 1
        #expect(await verifier.error(other, at: Self.expires) == .signature)
        let others = TokenVerifier(keys: keys, rules: TokenRules(issuer: "jim"))
        #expect(await others.error(token, at: Self.expires) == .issuer)
    }

    @Test func `of RFC 8037 is signed, and says nothing in JSON`() async throws {
        let key =
            #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#
        let verifier = TokenVerifier(
            keys: try await KeySet(file: bytes(key)), rules: TokenRules())
        let text = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
        let signature =
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KA"
        #expect(await verifier.error(bytes(text + signature + "g")) == .malformed)
        #expect(await verifier.error(bytes(text + "A" + signature.dropFirst() + "g")) == .signature)
    }
}
