import NIOCore
import PresenceWire

/// A response, before it is written.
struct Response: Sendable {
    /// The content.
    enum Body: Sendable {
        case buffer(ByteBuffer)
        /// The result of a call. Its memory is free when the response has been written.
        case result(ResultBytes)
        /// What this writes, until it returns.
        case stream(@Sendable (StreamWriter) async throws -> Void)

        /// How many bytes it has; nil: that is not known before its end.
        var byteCount: Int? {
            switch self {
            case .buffer(let buffer): buffer.readableBytes
            case .result(let result): result.bytes.count
            case .stream: nil
            }
        }
    }

    var status: HTTPStatus
    var headers: ResponseFields
    var body: Body

    init(status: HTTPStatus, headers: ResponseFields, body: Body = .buffer(ByteBuffer())) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A successful response.
    static func json(_ body: Body) -> Response {
        Response(status: .ok, headers: [.contentType: "application/json"], body: body)
    }
}

/// The fields of a response, in their order.
struct ResponseFields: Sendable, ExpressibleByDictionaryLiteral {
    private(set) var all: [(name: FieldName, value: String)]

    init(dictionaryLiteral elements: (FieldName, String)...) {
        all = elements.map { ($0.0, $0.1) }
    }

    subscript(name: FieldName) -> String? {
        get { all.first { $0.name == name }?.value }
        set {
            all.removeAll { $0.name == name }
            if let newValue { all.append((name, newValue)) }
        }
    }
}

/// How the bytes of a response are written (RFC 9112, 6).
struct ResponseFraming: Sendable {
    /// What has no body, whatever its fields say: the response to HEAD, and 304.
    let hasBody: Bool
    /// In chunks: to clients of HTTP/1.1 that do not know the length.
    let isChunked: Bool
    /// Whether the connection ends with it. Nothing else ends a body of HTTP/1.0.
    let closes: Bool

    init(of response: Response, to head: RequestHead?, closes: Bool) {
        hasBody = head?.method != .head && response.status != .notModified
        let isStream = response.body.byteCount == nil
        let canChunk = head.map { $0.minorVersion > 0 } ?? false
        isChunked = isStream && canChunk
        self.closes = closes || isStream && !canChunk
    }

    /// The status line and all fields, with the empty line.
    func head(of response: Response, date: String) -> ByteBuffer {
        var text = ByteBuffer()
        text.reserveCapacity(512)
        text.writeString("HTTP/1.1 \(response.status.rawValue) \(response.status.phrase)\r\n")
        for field in response.headers.all { text.writeField(field.name, field.value) }
        text.writeField(.date, date)
        if response.headers[.cacheControl] == nil { text.writeField(.cacheControl, "no-store") }
        text.writeField(.xContentTypeOptions, "nosniff")
        if let count = response.body.byteCount {
            if response.status != .notModified { text.writeField(.contentLength, String(count)) }
        } else if isChunked {
            text.writeField(.transferEncoding, "chunked")
        }
        if closes { text.writeField(.connection, "close") }
        text.writeStaticString("\r\n")
        return text
    }

    /// A part of a body as it is sent.
    func framed(_ part: ByteBuffer) -> ByteBuffer {
        precondition(part.readableBytes > 0, "an empty chunk would end the body")
        guard isChunked else { return part }
        var chunk = ByteBuffer()
        chunk.reserveCapacity(part.readableBytes + 16)
        chunk.writeString(String(part.readableBytes, radix: 16))
        chunk.writeStaticString("\r\n")
        chunk.writeImmutableBuffer(part)
        chunk.writeStaticString("\r\n")
        return chunk
    }

    /// What follows a body.
    var end: ByteBuffer {
        isChunked && hasBody ? ByteBuffer(staticString: "0\r\n\r\n") : ByteBuffer()
    }
}

extension ByteBuffer {
    fileprivate mutating func writeField(_ name: FieldName, _ value: String) {
        writeString(name.rawValue)
        writeStaticString(": ")
        writeString(value)
        writeStaticString("\r\n")
    }
}
