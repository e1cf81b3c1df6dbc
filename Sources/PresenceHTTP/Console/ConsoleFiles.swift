/// The files of the console, which are those of `clients/console` at build time.
struct ConsoleFiles: Sendable {
    /// The page itself: the file for `/console/`.
    static let page: Substring = "index.html"

    private let files: [Substring: (file: ServedFile, type: String)]

    init() {
        var files: [Substring: (file: ServedFile, type: String)] = [:]
        for file in EmbeddedFile.console {
            let name = file.name[...]
            files[name] = (ServedFile(file.bytes), Self.mediaType(of: name))
        }
        self.files = files
    }

    /// The names of all files.
    var names: [String] { files.keys.map(String.init) }

    /// The file with this name, and its media type. The empty name is that of the page.
    subscript(name: Substring) -> (file: ServedFile, type: String)? {
        files[name.isEmpty ? Self.page : name]
    }

    private static func mediaType(of name: Substring) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }
}
