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

    /// The name of an account.
    func text(_ account: Int) -> String {
        precondition(account >= 0 && account < Self.accountsMax)
        let digits = String(Self.accountsMax + account).utf8.dropFirst()
        return String(decoding: [tag.0, tag.1] + digits, as: UTF8.self)
    }

    /// A JSON array of names.
    func list(_ accounts: some Sequence<Int>) -> String {
        "[" + accounts.map { #""\#(text($0))""# }.joined(separator: ",") + "]"
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
