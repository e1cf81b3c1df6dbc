import Crypto
import NIOCore

/// The files of the JavaScript SDK: those of `clients/js/src`, and all that a browser needs of them
/// in one file, as they were at build time.
struct SDKFiles: Sendable {
    /// A file and its entity tag.
    struct File: Sendable {
        let body: ByteBuffer
        /// A hash of the bytes, quoted.
        let tag: String
        /// Whether the body is compressed with gzip.
        let isCompressed: Bool

        init(_ bytes: [UInt8], isCompressed: Bool = false) {
            self.isCompressed = isCompressed
            body = ByteBuffer(bytes: bytes)
            // Half of the hash is enough for a tag.
            let digits = SHA256.hash(data: bytes).prefix(16).map { byte in
                let text = String(byte, radix: 16)
                return byte < 16 ? "0" + text : text
            }
            tag = "\"\(digits.joined())\""
        }

        /// Whether an `If-None-Match` field names this file (RFC 9110, 13.1.2: the comparison is
        /// weak, so a proxy that compressed the file may have weakened the tag).
        func isNamed(by field: String?) -> Bool {
            guard let field else { return false }
            return field.split(separator: ",").contains { element in
                var name = element.drop { $0 == " " || $0 == "\t" }
                while name.last == " " || name.last == "\t" { name.removeLast() }
                if name.hasPrefix("W/") { name.removeFirst(2) }
                return name == "*" || name == tag
            }
        }
    }

    /// The file that has all that a browser needs.
    private static let bundle: Substring = "porchlight.min.js"

    private let files: [Substring: File]
    private let compressedBundle: File?

    init() {
        var files: [Substring: File] = [:]
        for file in EmbeddedFile.sdk {
            files[file.name[...]] = File(file.bytes, isCompressed: file.name.hasSuffix(".gz"))
        }
        compressedBundle = files.removeValue(forKey: Self.bundle + ".gz")
        self.files = files
    }

    /// The names of all files.
    var names: [String] { files.keys.map(String.init) }

    /// The file with this name.
    subscript(name: Substring) -> File? { files[name] }

    /// The file with this name, compressed if there is such a form and an `Accept-Encoding` field
    /// names it.
    func file(_ name: Substring, accepting codings: String?) -> File? {
        if name == Self.bundle, Self.acceptsGzip(codings), let compressedBundle {
            return compressedBundle
        }
        return files[name]
    }

    private static func acceptsGzip(_ codings: String?) -> Bool {
        (codings ?? "").split(separator: ",").contains { element in
            let parts = element.lowercased().filter { $0 != " " && $0 != "\t" }
                .split(separator: ";")
            guard parts.first == "gzip" else { return false }
            // A weight of 0 means that it is not accepted (RFC 9110, 12.4.2).
            return !parts.dropFirst().contains { weight in
                weight.hasPrefix("q=0") && weight.dropFirst(2).allSatisfy { "0.".contains($0) }
            }
        }
    }
}
