// Messages of SASL, as a client that is not authenticated sends them.
//
// The first byte of the input chooses what the rest is: a password, base64, a message of PLAIN, the
// first message of SCRAM, or changes of the right last message, after which only the right one is
// accepted.

import Containers

@testable import Passwords

/// What all runs have in common: keys with few iterations.
private let password = "pencil"
private let keys: StoredKeys = {
    guard let password = try? Password(bytes(password)) else { preconditionFailure() }
    return StoredKeys(of: password, salt: bytes("0123456789abcdef"), iterations: 2)
}()

private func readPassword(_ typed: [UInt8]) {
    guard let first = try? Password(typed) else { return }
    require(!first.bytes.isEmpty && first.bytes.count <= Password.bytesMax, "out of bounds")
    guard let second = try? Password(first.bytes) else {
        return require(false, "a normalised password is not accepted")
    }
    require(second.bytes == first.bytes, "normalising again changes a password")
}

private func readBase64(_ text: [UInt8]) {
    if let decoded = Base64.decoded(text) {
        require(Base64.encoded(decoded) == text, "two texts for the same bytes")
    }
    require(Base64.decoded(Base64.encoded(text)) == text, "bytes do not return")
}

private func readPlain(_ message: [UInt8]) {
    guard let plain = try? PlainMessage(reading: message) else { return }
    require(
        plain.authorization + [0] + plain.name + [0] + plain.secret == message,
        "the parts are not the message")
    require(!plain.name.isEmpty && !plain.secret.isEmpty, "an empty field")
}

private func readFirst(_ message: [UInt8]) {
    guard let request = try? ScramRequest(reading: message) else { return }
    require(request.header + request.bare == message, "the parts are not the message")
    require(!request.name.isEmpty && !request.nonce.isEmpty, "an empty field")
    require(request.header.first != UInt8(ascii: "p"), "a channel is bound")
    var random = SplitMix64(seed: 1)
    let challenge = ScramChallenge(to: request, hash: .sha256, keys: keys, using: &random)
    require((try? challenge.verify(message)) == nil, "a first message is a proof")
}

/// Changes a right last message.
private func readLast(_ input: inout Input) {
    let hash = input.pick(ScramHash.allCases)
    let header = input.pick(["n,,", "y,,", "n,a=user@example.org,"])
    let bare = "n=user,r=abc"
    guard let request = try? ScramRequest(reading: bytes(header + bare)) else {
        return require(false, "the first message is rejected")
    }
    let challenge = ScramChallenge(to: request, hash: hash, keys: keys, nonce: bytes("def"))
    guard
        let proof = try? ScramProof(hash: hash, password: password).message(
            bare: bare, header: header, challenge: text(challenge.message))
    else { return require(false, "no proof") }
    let right = bytes(proof)
    require((try? challenge.verify(right)) != nil, "the right message is rejected")
    var changed = right
    while !input.isEmpty {
        let place =
            changed.isEmpty ? 0 : (input.below(256) * 256 + input.below(256)) % changed.count
        switch input.below(4) {
        case 0: if !changed.isEmpty { changed[place] = input.byte() }
        case 1: changed.insert(input.byte(), at: place)
        case 2: if !changed.isEmpty { changed.remove(at: place) }
        default: changed.insert(contentsOf: bytes(input.pick([",x=1", ",p=", "=3D"])), at: place)
        }
    }
    require((try? challenge.verify(changed)) == nil || changed == right, "a changed proof is one")
}

/// Reads one input in the way that its first byte says.
func fuzzSASL(_ bytes: [UInt8]) {
    var input = Input(bytes)
    switch input.below(5) {
    case 0: readPassword(input.remainder())
    case 1: readBase64(input.remainder())
    case 2: readPlain(input.remainder())
    case 3: readFirst(input.remainder())
    default: readLast(&input)
    }
}
