/// The first message of a client of SCRAM: for whom keys are needed.
///
/// An exchange has three values, each made of the one before: `ScramRequest`, `ScramChallenge`,
/// and the final message of the service. None can be used out of order.
public struct ScramRequest: Hashable, Sendable {
    /// The name to act as; empty: the one that is authenticated.
    public let authorization: [UInt8]
    /// The name to authenticate as.
    public let name: [UInt8]
    /// `n,,` and the like, which the client repeats in its last message.
    let header: [UInt8]
    /// The message after the header, of which the proof is made.
    let bare: [UInt8]
    let nonce: [UInt8]

    /// Reads `n,[a=authzid],n=name,r=nonce`. The flag may be `n` or `y`: no channel binding.
    public init(reading message: [UInt8]) throws(SASLError) {
        guard message.count <= SASLLimits.messageBytesMax, !message.contains(0),
            String(validating: message, as: UTF8.self) != nil
        else { throw .malformed }
        let comma = UInt8(ascii: ",")
        let parts = message.split(separator: comma, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed }
        switch Array(parts[0]) {
        // `y` says that the client binds channels and believes that the service does not. It does
        // not: no mechanism with -PLUS is offered.
        case [UInt8(ascii: "n")], [UInt8(ascii: "y")]: break
        case let flag where flag.starts(with: "p=".utf8): throw .unsupported
        default: throw .malformed
        }
        authorization = try Self.authorization(parts[1])
        header = Array(message[..<parts[2].startIndex])
        bare = Array(parts[2])
        // A mandatory extension; none is known.
        if bare.starts(with: "m=".utf8) { throw .unsupported }
        var attributes = ScramAttributes(parts[2])
        name = try ScramAttributes.name(try attributes.value(of: "n"))
        let nonce = try attributes.value(of: "r")
        while !attributes.isAtEnd { _ = try attributes.next() }
        guard name.count <= SASLLimits.nameBytesMax, ScramAttributes.isNonce(nonce),
            nonce.count <= SASLLimits.nonceBytesMax
        else { throw .malformed }
        self.nonce = Array(nonce)
    }

    private static func authorization(_ part: ArraySlice<UInt8>) throws(SASLError) -> [UInt8] {
        guard !part.isEmpty else { return [] }
        var attributes = ScramAttributes(part)
        let name = try ScramAttributes.name(try attributes.value(of: "a"))
        guard name.count <= SASLLimits.authorizationBytesMax else { throw .malformed }
        return name
    }
}
