import Containers
import Testing

@testable import PresenceWire

@Suite struct `Where a text stops being JSON` {
    private func offset(_ text: String) -> Int? { JSONScanner.errorOffset(in: Array(text.utf8)) }

    @Test(
        arguments: [
            ("", 0), (" ", 1), ("{", 1), ("}", 0), ("{}}", 2), ("{} {}", 3), ("{}x", 2),
            ("{\"a\":1", 6), ("{\"a\":1,}", 7), ("{\"a\" 1}", 5), ("{\"a\":1 \"b\":2}", 7),
            ("{a:1}", 1), ("{'a':1}", 1), ("{\"a\":tru}", 8), ("{\"a\":01}", 6),
            ("{\"a\":1.}", 7), ("{\"a\":.5}", 5), ("{\"a\":-}", 6), ("{\"a\":1e+}", 8),
            ("[1,,2]", 3), ("[1}", 2), ("[[1],{\"a\":[", 11), ("\"abc", 4), ("\"a\nb\"", 2),
            ("\"a\\x\"", 3), ("\"\\u12g4\"", 5), ("\"é\\ud800\"", 3), ("\"\\udc00\"", 1),
            ("\"\\ud800\\u0041\"", 1), ("\"\\ud800\\n\"", 1), ("\u{FEFF}{}", 0),
        ])
    func `is at the first byte that is wrong`(text: String, expected: Int) {
        #expect(offset(text) == expected)
    }

    @Test(arguments: [
        "{}", " [ ] ", "1", "-0.5e-10", "1E+2", "\"\"", "true", "null\n", "{\"a\":{\"b\":[1,[2]]}}",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83D\\uDe00é\"", "[[[[[[[[]]]]]]]]",
    ])
    func `is nowhere in JSON`(text: String) {
        #expect(offset(text) == nil)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `is somewhere exactly if simdjson rejects it`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let text = Array(
            #"{"a":[1,-2.5e+3,true,null,"x\u00e9\ud83d\ude00\n"],"b":{"c":"d","e":[]} , "f":false}"#
                .utf8)
        let pieces = Array(#"{}[]",:\u0d8eE+-.tf n1"#.utf8)
        var invalid = 0
        for _ in 0..<20_000 {
            var changed = text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: changed.indices, using: &random)
                let piece = pieces[Int.random(in: pieces.indices, using: &random)]
                switch Int.random(in: 0...2, using: &random) {
                case 0: changed[place] = piece
                case 1: changed.insert(piece, at: place)
                default: changed.remove(at: place)
                }
            }
            let error = Decoded(changed).envelopeError
            let isInvalid = error?.reason == .invalidJSON
            if isInvalid { invalid += 1 }
            let position = JSONScanner.errorOffset(in: changed)
            #expect(
                isInvalid == (position != nil) && error?.position == position,
                "seed \(seed): \(String(decoding: changed, as: UTF8.self))")
        }
        #expect(invalid > 1_000 && invalid < 19_999)
    }
}
