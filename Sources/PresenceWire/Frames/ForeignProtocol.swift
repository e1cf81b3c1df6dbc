// HTTP that was sent to the native port. The first four bytes of a request are its method, and as
// the length of a frame they are far above any limit: no frame is mistaken for one.

/// HTTP on a connection that should carry frames.
public enum ForeignProtocol {
    /// Beginnings of methods: RFC 9110, RFC 5789, and `PRI `, with which HTTP/2 begins.
    private static let methods = [
        "GET ", "PUT ", "POST", "HEAD", "DELE", "OPTI", "PATC", "TRAC", "CONN", "PRI ",
    ]

    private static let lengths = Set(
        methods.map { method in method.utf8.reduce(0) { $0 << 8 | Int($1) } })

    /// Whether what was read as the length of a frame is the beginning of an HTTP request.
    public static func isHTTPRequest(bytesClaimed: Int) -> Bool { lengths.contains(bytesClaimed) }
}

extension [UInt8] {
    /// Appends an HTTP answer that says where HTTP is spoken. It is not a frame.
    public mutating func appendHTTPRefusal() {
        let body = """
            This port speaks Porchlight's native protocol (docs/PROTOCOL.md), not HTTP. The HTTP \
            API has an address of its own: porchlight serve --http 127.0.0.1:7401

            """
        append(
            contentsOf: """
                HTTP/1.1 400 Bad Request\r
                Content-Type: text/plain; charset=utf-8\r
                Content-Length: \(body.utf8.count)\r
                Connection: close\r
                \r
                \(body)
                """.utf8)
    }
}
