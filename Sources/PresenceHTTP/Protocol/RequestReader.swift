// The requests of one connection, read from its bytes (RFC 9112).
//
// What servers and proxies read differently is rejected, so that no two of them see two requests
// where one of them sees one. Where that leaves a choice, the choice is that of h11, a parser in
// Python with which `Tests/HTTP/differential.py` compares this one: a line may end in LF alone in a
// head, but not between chunks; a folded line is one line; an empty line before a request is none
// of it. A request with both `Content-Length` and `Transfer-Encoding` is rejected, which h11 reads.
//
// Nothing is kept of a request but the fields that the API uses and the line that is not complete.
// A body is handed on as it arrives.

import HTTPValues
import NIOCore

/// The bounds of a request.
struct RequestLimits: Sendable {
    /// Bytes of the first line.
    var lineBytesMax: Int
    /// The fields of a head, and of a trailer.
    var fields: FieldSection.Limits
    /// Bytes of a chunked body.
    var bodyBytesMax: Int
    /// Bytes of the line before a chunk.
    var chunkLineBytesMax = 4_096
}

/// Reads the requests of one connection.
struct RequestReader: Sendable {
    /// What comes next.
    enum Event: Sendable {
        case head(RequestHead)
        /// A part of the body.
        case body(ByteBuffer)
        /// The end of the request.
        case end
    }

    private enum State {
        case line
        case fields(RequestLine)
        /// In a body of a stated length, of which this much is missing.
        case body(Int)
        case chunkLine
        case chunk(Int)
        case chunkEnd
        case trailer
        /// Nothing can be read after an error.
        case failed
    }

    private let limits: RequestLimits
    private var state = State.line
    private var section: FieldSection
    /// Lines that may be read now; `next` gives nothing more after them.
    var linesLeft = Int.max
    /// Bytes of the input that have been searched for the end of a line.
    private var searched = 0
    private var bodyBytes = 0

    init(_ limits: RequestLimits) {
        self.limits = limits
        section = FieldSection(limits.fields)
    }

    /// The beginning of version 2 of the PROXY protocol.
    private static let proxyHeader = Array("\r\n\r\n\0\r\nQUIT\n".utf8)

    /// Whether no part of a request has been read.
    var isBetweenRequests: Bool { if case .line = state { true } else { false } }

    /// Takes the next event from the input; nil: more input is needed, or no lines are left.
    mutating func next(in input: inout ByteBuffer) throws(HTTPError) -> Event? {
        do throws(HTTPError) {
            while linesLeft > 0 {
                let (event, needsMore) = try step(&input)
                if event != nil || needsMore { return event }
            }
            return nil
        } catch {
            state = .failed
            throw error
        }
    }

    private mutating func step(
        _ input: inout ByteBuffer
    ) throws(HTTPError) -> (event: Event?, needsMore: Bool) {
        switch state {
        case .line: return (nil, try !readLine(&input))
        case .fields(let line):
            guard try readFields(&input, isTrailer: false) else { return (nil, true) }
            return (.head(try endHead(line)), false)
        case .body(0): return (endRequest(), false)
        case .body(let rest):
            guard let part = take(&input, atMost: rest) else { return (nil, true) }
            precondition(part.readableBytes <= rest, "a part of the next request")
            state = .body(rest - part.readableBytes)
            return (.body(part), false)
        case .chunkLine: return (nil, try !readChunkLine(&input))
        case .chunk(let rest):
            guard let part = take(&input, atMost: rest) else { return (nil, true) }
            precondition(part.readableBytes <= rest, "a part of the end of the chunk")
            state = part.readableBytes == rest ? .chunkEnd : .chunk(rest - part.readableBytes)
            return (.body(part), false)
        case .chunkEnd: return (nil, try !readChunkEnd(&input))
        case .trailer:
            guard try readFields(&input, isTrailer: true) else { return (nil, true) }
            return (endRequest(), false)
        case .failed: return (nil, true)
        }
    }

    // MARK: - Heads

    private mutating func readLine(_ input: inout ByteBuffer) throws(HTTPError) -> Bool {
        let first = input.getInteger(at: input.readerIndex, as: UInt8.self)
        // No method begins so. What is no HTTP, such as a ClientHello, may have no line.
        guard first.map({ $0 > UInt8(ascii: " ") }) ?? true else {
            let isProxyHeader = input.readableBytesView.starts(with: Self.proxyHeader)
            throw isProxyHeader ? .proxyHeader : .noRequest
        }
        let bytesMax = limits.lineBytesMax
        guard let line = try takeLine(&input, bytesMax, .targetTooLong(bytesMax: bytesMax)) else {
            return false
        }
        state = .fields(try RequestLine(line))
        section = FieldSection(limits.fields)
        return true
    }

    /// Reads fields; whether they are complete.
    private mutating func readFields(
        _ input: inout ByteBuffer, isTrailer: Bool
    ) throws(HTTPError) -> Bool {
        let bytesMax = limits.fields.bytes
        while linesLeft > 0,
            let line = try takeLine(&input, bytesMax, .fieldsTooLarge(bytesMax: bytesMax))
        {
            if line.isEmpty {
                try section.end()
                return true
            }
            try section.take(line)
        }
        return false
    }

    private mutating func endHead(_ line: RequestLine) throws(HTTPError) -> RequestHead {
        let head = try RequestHead(line, section)
        bodyBytes = 0
        state =
            switch head.framing {
            case .length(let length): .body(length)
            case .chunked: .chunkLine
            }
        return head
    }

    private mutating func endRequest() -> Event {
        state = .line
        section = FieldSection(limits.fields)
        return .end
    }

    // MARK: - Chunks

    private mutating func readChunkLine(_ input: inout ByteBuffer) throws(HTTPError) -> Bool {
        let bytesMax = limits.chunkLineBytesMax
        guard let line = try takeLine(&input, bytesMax, .chunkLine, end: .crlf) else {
            return false
        }
        let digits = line.prefix { $0.hexValue != nil }
        let rest = line.dropFirst(digits.count)
        guard 1...20 ~= digits.count,
            rest.first == UInt8(ascii: ";") || rest.allSatisfy({ $0.isBlank })
        else { throw .chunkLine }
        guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16),
            size <= limits.bodyBytesMax - bodyBytes
        else { throw .bodyTooLarge(bytesMax: limits.bodyBytesMax) }
        bodyBytes += size
        precondition(0...limits.bodyBytesMax ~= bodyBytes, "a body above its limit")
        if size == 0 { section = FieldSection(limits.fields) }
        state = size == 0 ? .trailer : .chunk(size)
        return true
    }

    private mutating func readChunkEnd(_ input: inout ByteBuffer) throws(HTTPError) -> Bool {
        let bytes = input.readableBytesView.prefix(2)
        guard bytes.elementsEqual("\r\n".utf8.prefix(bytes.count)) else { throw .chunkEnd }
        guard bytes.count == 2 else { return false }
        input.moveReaderIndex(forwardBy: 2)
        state = .chunkLine
        return true
    }

    // MARK: - Pieces of the input

    private enum LineEnd { case lfOrCRLF, crlf }

    /// The next line, without its end; nil if it is not complete.
    private mutating func takeLine(
        _ input: inout ByteBuffer, _ bytesMax: Int, _ tooLong: HTTPError,
        end: LineEnd = .lfOrCRLF
    ) throws(HTTPError) -> [UInt8]? {
        let view = input.readableBytesView
        let rest = view[(view.startIndex + searched)...]
        guard let lf = rest.firstIndex(of: UInt8(ascii: "\n")) else {
            guard view.count <= bytesMax + 1 else { throw tooLong }
            searched = view.count
            return nil
        }
        searched = 0
        linesLeft -= 1
        var line = Array(view[..<lf])
        input.moveReaderIndex(forwardBy: line.count + 1)
        if line.last == UInt8(ascii: "\r") {
            line.removeLast()
        } else if end == .crlf {
            throw .chunkLine
        }
        guard line.count <= bytesMax else { throw tooLong }
        return line
    }

    private func take(_ input: inout ByteBuffer, atMost count: Int) -> ByteBuffer? {
        guard input.readableBytes > 0 else { return nil }
        return input.readSlice(length: min(count, input.readableBytes))
    }
}
