/// The accounts of a run: two letters that differ from run to run, and six digits.
///
/// Eight bytes, so that a name in an event is read by one load, without a string.
struct Names {
    static let byteCount = 8
    static let accountsMax = 1_000_000

    private let tag: (UInt8, UInt8)

    init(seed: UInt64) {
        let letter = { (number: UInt64) in UInt8(ascii: "a") + UInt8(number % 26) }
        tag = (letter(seed), letter(seed / 26))
    }

    /// Appends the name of an account.
    func append(_ account: Int, to bytes: inout [UInt8]) {
        precondition(account >= 0 && account < Self.accountsMax)
        bytes.append(tag.0)
        bytes.append(tag.1)
        var unit = 100_000
        while unit > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(account / unit % 10))
            unit /= 10
        }
    }

    /// The name as text, for what is verified slowly.
    func text(_ account: Int) -> String {
        var bytes: [UInt8] = []
        append(account, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The account whose name begins at `offset`; nil if it is not of this run.
    @inline(__always)
    func account(in body: RawSpan, at offset: Int) -> Int? {
        guard body.byteCount - offset > Self.byteCount, body.byte(offset) == tag.0,
            body.byte(offset + 1) == tag.1, body.byte(offset + Self.byteCount) == UInt8(ascii: "\"")
        else { return nil }
        var account = 0
        for index in offset + 2..<offset + Self.byteCount {
            let digit = body.byte(index) &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            account = account &* 10 &+ Int(digit)
        }
        return account
    }
}
