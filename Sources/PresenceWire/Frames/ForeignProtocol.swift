// HTTP on a connection that should carry frames. The first four bytes of a request are its method,
// and as the length of a frame they are far above any limit: no frame is mistaken for one. A
// request that begins with `G` is read by `UpgradeReader`.

/// HTTP on a connection that should carry frames.
enum ForeignProtocol {
    /// Beginnings of methods: RFC 9110, RFC 5789.
    private static let methods = [
        "PUT ", "POST", "HEAD", "DELE", "OPTI", "PATC", "TRAC", "CONN",
    ]

    private static let lengths = Set(methods.map(length))
    /// HTTP/2 begins with it.
    private static let preface = length("PRI ")

    private static func length(_ text: String) -> Int {
        text.utf8.reduce(0) { $0 << 8 | Int($1) }
    }

    /// The answer to an HTTP request whose beginning was read as the length of a frame; nil: it is
    /// none.
    static func error(bytesClaimed: Int) -> UpgradeError? {
        if bytesClaimed == preface { return .httpVersion }
        return lengths.contains(bytesClaimed) ? .method : nil
    }
}
