/// The files of the JavaScript SDK: those of `clients/js/src`, and all that a browser needs of them
/// in one file, as they were at build time.
struct SDKFiles: Sendable {
    /// The file that has all that a browser needs.
    private static let bundle: Substring = "porchlight.min.js"

    private let files: [Substring: ServedFile]
    private let compressedBundle: ServedFile?

    init() {
        var files: [Substring: ServedFile] = [:]
        for file in EmbeddedFile.sdk {
            files[file.name[...]] = ServedFile(file.bytes, isCompressed: file.name.hasSuffix(".gz"))
        }
        compressedBundle = files.removeValue(forKey: Self.bundle + ".gz")
        self.files = files
    }

    /// The names of all files.
    var names: [String] { files.keys.map(String.init) }

    /// The file with this name.
    subscript(name: Substring) -> ServedFile? { files[name] }

    /// The file with this name, compressed if there is such a form and an `Accept-Encoding` field
    /// names it.
    func file(_ name: Substring, accepting codings: String?) -> ServedFile? {
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
