import Crypto
import HTTPValues
import NIOCore

/// Files that are served unchanged, with the same header fields.
struct FileSet: Sendable {
    private struct File {
        let body: ByteBuffer
        let fields: ResponseFields
        let tag: [UInt8]
    }

    private var files: [Substring: File] = [:]
    /// The compressed forms, by the names without `.gz`.
    private var compressed: [Substring: File] = [:]

    /// Files, and the fields that all of them have. A file whose name ends in `.gz` is another form
    /// of the file without that.
    init(_ files: [EmbeddedFile], _ fields: ResponseFields) {
        for file in files {
            let isCompressed = file.name.hasSuffix(".gz")
            let name = file.name.dropLast(isCompressed ? 3 : 0)
            var all = fields
            all[.contentType] = Self.mediaType(of: name)
            // The files import each other. Always asking keeps them of one version.
            all[.cacheControl] = "no-cache"
            if isCompressed { all[.contentEncoding] = "gzip" }
            let tag = Self.tag(of: file.bytes, all)
            all[.eTag] = tag
            let served = File(
                body: ByteBuffer(bytes: file.bytes), fields: all, tag: Array(tag.utf8))
            let other =
                isCompressed
                ? compressed.updateValue(served, forKey: name)
                : self.files.updateValue(served, forKey: name)
            precondition(other == nil, "two files of one name")
        }
        precondition(compressed.keys.allSatisfy { self.files[$0] != nil }, "one form alone")
    }

    /// The names of all files.
    var names: [String] { files.keys.map(String.init) }

    /// The response with the file of this name, or that the client has it already; nil: there is no
    /// such file. The empty name is that of the page, `index.html`.
    func response(for name: Substring, to request: FieldSection) -> Response? {
        let name = name.isEmpty ? "index.html" : name
        let small = Self.acceptsGzip(request) ? compressed[name] : nil
        guard let file = small ?? files[name] else { return nil }
        guard !Self.isNamed(file.tag, by: request[.ifNoneMatch]) else {
            return Response(status: .notModified, headers: file.fields)
        }
        return Response(status: .ok, headers: file.fields, body: .buffer(file.body))
    }

    /// Half of a hash of the bytes and of the fields, since a client keeps both, quoted.
    private static func tag(of bytes: [UInt8], _ fields: ResponseFields) -> String {
        var hash = SHA256()
        for field in fields.all { hash.update(data: Array("\(field.name): \(field.value)\n".utf8)) }
        hash.update(data: bytes)
        let digits = hash.finalize().prefix(16).map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }
        return "\"\(digits.joined())\""
    }

    /// Whether an `If-None-Match` field names this tag (RFC 9110, 13.1.2: the comparison is weak,
    /// so a proxy that compressed the file may have weakened the tag).
    private static func isNamed(_ tag: [UInt8], by field: [UInt8]?) -> Bool {
        (field ?? []).split(separator: UInt8(ascii: ",")).contains { element in
            let name = Array(element.withoutBlanks)
            return name == tag || name == Array("W/".utf8) + tag || name == [UInt8(ascii: "*")]
        }
    }

    private static func acceptsGzip(_ request: FieldSection) -> Bool {
        request.elements(of: .acceptEncoding).contains { element in
            let parts = String(decoding: element.filter { !$0.isBlank }, as: UTF8.self)
                .split(separator: ";")
            guard parts.first == "gzip" else { return false }
            // A weight of 0 means that it is not accepted (RFC 9110, 12.4.2).
            return !parts.dropFirst().contains { weight in
                weight.hasPrefix("q=0") && weight.dropFirst(2).allSatisfy { "0.".contains($0) }
            }
        }
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
