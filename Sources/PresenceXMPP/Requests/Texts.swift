// Texts of clients, made to fit.

extension [UInt8] {
    /// The beginning of a text, of at most `bytesMax` bytes, in whole characters: a character is
    /// what its reader takes for one. Of one that has more by itself, the code points that fit.
    func cut(toBytes bytesMax: Int) -> [UInt8] {
        guard count > bytesMax else { return self }
        let text = String(decoding: self, as: UTF8.self)
        var bytes = 0
        for character in text {
            let next = bytes + character.utf8.count
            guard next <= bytesMax else { break }
            bytes = next
        }
        if bytes == 0 {
            for scalar in text.unicodeScalars {
                let next = bytes + UTF8.width(scalar)
                guard next <= bytesMax else { break }
                bytes = next
            }
        }
        return Array(prefix(bytes))
    }

    /// Without white space of XML at both ends.
    var withoutWhiteSpaceAround: ArraySlice<UInt8> {
        let start = firstIndex { !$0.isWhiteSpace } ?? endIndex
        let end = lastIndex { !$0.isWhiteSpace }.map { $0 + 1 } ?? start
        return self[start..<end]
    }

    /// Without white space of XML.
    var withoutWhiteSpace: [UInt8] { filter { !$0.isWhiteSpace } }

    /// With a space in the place of each control character of ASCII: a line break, a tab.
    var onOneLine: [UInt8] { map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 } }
}

extension UInt8 {
    /// Whether it is white space of XML.
    fileprivate var isWhiteSpace: Bool {
        self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D
    }
}
