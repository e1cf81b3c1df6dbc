/// The path of a file, as SQLite is given it.
///
/// SQLite reads `file:copy` as a URI, and `:memory:` as no file at all. Every path that it is given
/// is made here, so that it means to SQLite what it means to the rest of the system.
/// https://www.sqlite.org/uri.html
struct DatabasePath {
    private let path: String

    init(_ path: String) {
        self.path = path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
    }

    /// The URI with which SQLite reads a file without locks or a log.
    var immutable: String { uri(with: "immutable=1") }

    /// The URI with which SQLite reads and writes a file that is this process's alone. The index of
    /// the log is in its memory: a file that is mapped has holes where the file system has no block
    /// for a page yet, and on a full disk a write into one is a SIGBUS. Others find the database
    /// locked. https://www.sqlite.org/vfs.html (unix-excl)
    var exclusive: String { uri(with: "vfs=unix-excl") }

    private func uri(with parameter: String) -> String {
        // An empty authority: `//` at the beginning of a path would begin one.
        var uri = path.utf8.first == UInt8(ascii: "/") ? "file://" : "file:"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                uri += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return uri + "?" + parameter
    }
}
