// The file of `--server-key`. One line per key:
//
//     # billing, since March
//     billing sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//     console read sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
//     a-key-as-it-is-which-is-16-to-512-bytes-long
//
// A key with the word `read` permits reads only. A line that is not a comment and not of the form
// NAME sha256:… or NAME read sha256:… is a plain key. It is valid like any other, under the name
// key-N, where N is its line number. But every reader of the file knows it, so the service logs a
// warning. A line of a public key is rejected: it is no secret.

/// The content of a file of server keys.
public struct ServerKeyFile: Sendable {
    /// The most keys in a file: each candidate is compared with all of them.
    public static let keyCountMax = 100

    /// The keys, in their order.
    public private(set) var keys: [ServerKey] = []
    /// Numbers of the lines that contain a plain key, from 1.
    public private(set) var plainLines: [Int] = []

    /// Parses the content of a file.
    ///
    /// - Throws: which line is invalid, and what would be valid.
    public init(_ content: [UInt8]) throws(ServerKeyFileError) {
        // A CR does not end a line: lines are counted by LF.
        let lines = content.split(separator: 10, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            var bytes = Array(line)
            if bytes.last == 13 { bytes.removeLast() }
            guard let first = bytes.first(where: { $0 != 32 && $0 != 9 }),
                first != UInt8(ascii: "#")
            else { continue }
            try add(bytes, line: index + 1)
        }
        guard !keys.isEmpty else { throw .empty }
        precondition(plainLines.count <= keys.count && keys.count <= Self.keyCountMax)
    }

    private mutating func add(_ line: [UInt8], line number: Int) throws(ServerKeyFileError) {
        let hashed = try hashedKey(line, number)
        let key = if let hashed { hashed } else { try plainKey(line, number) }
        guard !keys.contains(where: { $0.name == key.name }) else {
            throw .duplicateName(line: number, name: key.name)
        }
        if let other = keys.first(where: { $0.digest == key.digest }) {
            throw .duplicateKey(line: number, other: other.name)
        }
        guard keys.count < Self.keyCountMax else { throw .tooMany }
        keys.append(key)
    }

    /// The key of a line of the form NAME sha256:HEX or NAME read sha256:HEX; nil for any other.
    private func hashedKey(_ line: [UInt8], _ number: Int) throws(ServerKeyFileError) -> ServerKey?
    {
        let words = line.split { $0 == 32 || $0 == 9 }
        let isReadOnly = words.count == 3 && words[1].elementsEqual("read".utf8)
        guard words.count == 2 || isReadOnly, let hash = words.last,
            hash.starts(with: "sha256:".utf8)
        else { return nil }
        let name = String(decoding: words[0], as: UTF8.self)
        guard ServerKey.isName(name) else { throw .invalidName(line: number) }
        guard let digest = hexBytes(hash.dropFirst(7)), digest.count == 32 else {
            throw .invalidHash(line: number)
        }
        return ServerKey(name: name, digest: digest, isReadOnly: isReadOnly)
    }

    private mutating func plainKey(
        _ line: [UInt8], _ number: Int
    ) throws(ServerKeyFileError) -> ServerKey {
        if let found = PublicContent(in: line) { throw .notAKey(line: number, found) }
        guard let key = ServerKey(name: "key-\(number)", key: line) else {
            throw .invalidLength(line: number, count: line.count)
        }
        plainLines.append(number)
        return key
    }

    private func hexBytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let digits = text.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.count, digits.count % 2 == 0 else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }
}

/// Why a file of server keys is rejected. Contains nothing of the file except names.
public enum ServerKeyFileError: Error, Equatable, CustomStringConvertible {
    case empty
    case tooMany
    case notAKey(line: Int, PublicContent)
    case invalidLength(line: Int, count: Int)
    case invalidName(line: Int)
    case invalidHash(line: Int)
    case duplicateName(line: Int, name: String)
    case duplicateKey(line: Int, other: String)

    /// The rest of a sentence that begins with the name of the file.
    public var description: String {
        switch self {
        case .empty: "contains no key; create one with `porchlight key NAME`."
        case .tooMany: "contains more than \(ServerKeyFile.keyCountMax) keys."
        case .notAKey(let line, .serverKeyHash):
            "has a hash that is not of the form `NAME sha256:…` or `NAME read sha256:…` in line "
                + "\(line)."
        case .notAKey(let line, let found):
            "has \(found.name) in line \(line), which must not be used as a key; create keys with "
                + "`porchlight key NAME`."
        case .invalidLength(let line, let count):
            "has a key of \(count) bytes in line \(line); a key has 16 to 512."
        case .invalidName(let line):
            "has an invalid name in line \(line); use 1 to 64 letters, digits, `.`, `_` and `-`."
        case .invalidHash(let line):
            "has an invalid hash in line \(line); `sha256:` needs 64 hexadecimal digits."
        case .duplicateName(let line, let name):
            "repeats the name \(name) in line \(line)."
        case .duplicateKey(let line, let other):
            "repeats the key \(other) in line \(line)."
        }
    }
}
