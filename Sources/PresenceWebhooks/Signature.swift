import Crypto

/// Proves to a receiver that a batch is from this service, and how old it is.
enum Signature {
    static let header = "Porchlight-Signature"

    /// `t=…,v1=…`: the time in seconds, and the HMAC-SHA256 of that, a dot and the body.
    static func value(of body: some Sequence<UInt8>, seconds: Int64, secret: [UInt8]) -> String {
        var signed = Array("\(seconds).".utf8)
        signed.append(contentsOf: body)
        let code = HMAC<SHA256>.authenticationCode(
            for: signed, using: SymmetricKey(data: secret))
        return "t=\(seconds),v1=\(code.map(hex).joined())"
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = Array("0123456789abcdef")
        return "\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }
}
