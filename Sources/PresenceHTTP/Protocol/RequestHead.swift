import HTTPValues

/// The request line and the fields of a request.
struct RequestHead: Sendable {
    /// How long the body is.
    enum Framing: Hashable, Sendable {
        /// This many bytes; `Int.max` also for more than that.
        case length(Int)
        case chunked

        /// Whether its length is known, and above a limit.
        func isLonger(than bytesMax: Int) -> Bool {
            if case .length(let length) = self { length > bytesMax } else { false }
        }
    }

    /// Nil: one that servers need not know.
    let method: HTTPMethod?
    /// What the request is for.
    let target: RequestTarget
    /// The y of HTTP/1.y. Above 1, a request is read as one of HTTP/1.1 (RFC 9110, 2.5).
    let minorVersion: Int
    let fields: FieldSection
    let framing: Framing

    /// A head of these lines. Throws what leaves open where the request ends, and for whom it is.
    init(_ line: RequestLine, _ fields: FieldSection) throws(HTTPError) {
        method = line.method
        target = line.target
        minorVersion = line.minorVersion
        self.fields = fields
        guard fields.hostCount <= 1, fields.hostCount == 1 || minorVersion != 1 else {
            throw .hosts
        }
        let length = fields[.contentLength]
        guard fields[.transferEncoding] != nil else {
            let text = String(decoding: length ?? [UInt8(ascii: "0")], as: UTF8.self)
            framing = .length(Int(text) ?? .max)
            return
        }
        guard length == nil, minorVersion > 0 else { throw .severalFramings }
        framing = .chunked
    }

    /// Whether the client allows further requests on the connection after the response. That of
    /// HTTP/1.0 never does, `Connection: keep-alive` or not: nothing needs it.
    var keepsConnection: Bool { minorVersion > 0 && !fields.has("close", in: .connection) }

    /// Whether the client waits for an interim response before it sends the body.
    var awaitsContinue: Bool {
        minorVersion > 0 && framing != .length(0) && fields.has("100-continue", in: .expect)
    }

    /// Whether the client wants to speak WebSocket from then on (RFC 6455, 4.1). `Upgrade` counts
    /// only where `Connection` names it, and not in HTTP/1.0 (RFC 9110, 7.8).
    var asksForWebSocket: Bool {
        method == .get && minorVersion > 0 && fields.has("websocket", in: .upgrade)
            && fields.has("upgrade", in: .connection)
    }

    /// Whether it expects what this server does not know. HTTP/1.0 has no expectations.
    var hasUnknownExpectation: Bool {
        minorVersion > 0
            && fields.elements(of: .expect).contains { !$0.elementsEqual("100-continue".utf8) }
    }

    /// The host and port of an absolute target, or else of `Host`.
    var authority: String? {
        guard case .absolute(let authority, _, _) = target else { return fields.text(.host) }
        return String(authority)
    }

    /// For which host the request is; nil if that is no host. An absolute target overrides `Host`.
    var host: HostName? {
        switch target {
        case .absolute(let authority, _, _):
            // RFC 9112, 3.2: the field must be valid all the same.
            if let field = fields[.host], HostName(field) == nil { return nil }
            return authority.isEmpty ? nil : HostName(Array(authority.utf8))
        case .origin, .asterisk, .other:
            guard let field = fields[.host] else {
                return minorVersion > 0 ? nil : HostName([])
            }
            return HostName(field)
        }
    }
}

/// The first line of a request.
struct RequestLine: Sendable {
    let method: HTTPMethod?
    let target: RequestTarget
    let minorVersion: Int

    /// A line without its end.
    init(_ line: [UInt8]) throws(HTTPError) {
        let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy({ $0.isTokenByte }),
            !words[1].isEmpty, words[1].allSatisfy({ 0x21...0x7E ~= $0 }),
            let version = Self.version(words[2])
        else {
            guard words[0].elementsEqual("PROXY".utf8) else { throw .requestLine }
            throw .proxyHeader
        }
        guard version.major == 1 else { throw .unsupportedVersion }
        method = HTTPMethod(rawValue: String(decoding: words[0], as: UTF8.self))
        target = RequestTarget(String(decoding: words[1], as: UTF8.self))
        minorVersion = version.minor
    }

    private static func version(_ word: ArraySlice<UInt8>) -> (major: Int, minor: Int)? {
        let bytes = Array(word)
        guard bytes.count == 8, bytes.starts(with: "HTTP/".utf8), bytes[5].isDigit,
            bytes[6] == UInt8(ascii: "."), bytes[7].isDigit
        else { return nil }
        return (Int(bytes[5] - UInt8(ascii: "0")), Int(bytes[7] - UInt8(ascii: "0")))
    }
}

/// The target of a request (RFC 9112, 3.2), of visible ASCII.
enum RequestTarget: Hashable, Sendable {
    /// A path and a query.
    case origin(path: Substring, query: Substring?)
    /// The same behind `http://` or `https://` and a host: what clients send to proxies, and may
    /// send to every server.
    case absolute(authority: Substring, path: Substring, query: Substring?)
    /// `*`: the server itself.
    case asterisk
    /// The authority that CONNECT has, or nothing that there is.
    case other

    init(_ text: String) {
        if text.utf8.first == UInt8(ascii: "/") {
            let (path, query) = Self.split(text[...])
            self = .origin(path: path, query: query)
            return
        }
        let lowercase = text.utf8.lowercasedASCII
        guard
            let scheme = ["http://", "https://"].first(where: { lowercase.starts(with: $0.utf8) })
        else {
            self = text == "*" ? .asterisk : .other
            return
        }
        let rest = text.dropFirst(scheme.utf8.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let (path, query) = Self.split(rest[authority.endIndex...])
        self = .absolute(authority: authority, path: path.isEmpty ? "/" : path, query: query)
    }

    private static func split(_ text: Substring) -> (path: Substring, query: Substring?) {
        guard let mark = text.firstIndex(of: "?") else { return (text, nil) }
        return (text[..<mark], text[text.index(after: mark)...])
    }

    /// The path; nil if there is none.
    var path: Substring? {
        switch self {
        case .origin(let path, _), .absolute(_, let path, _): path
        case .asterisk, .other: nil
        }
    }

    /// The query; nil if there is none.
    var query: Substring? {
        switch self {
        case .origin(_, let query), .absolute(_, _, let query): query
        case .asterisk, .other: nil
        }
    }
}
