import NIOCore
import Testing

@testable import PresenceHTTP

/// How requests are read from bytes. `Tests/HTTP/differential.py` compares the same with h11.
@Suite struct `A reader of HTTP requests` {
    private static let limits = RequestLimits(
        lineBytesMax: 64, fields: .init(count: 4, bytes: 128), bodyBytesMax: 32,
        chunkLineBytesMax: 24)

    /// What is read, as words: `METHOD path`, `+body`, `.` for the end, and the status of an error.
    private func read(_ pieces: some Sequence<String>) -> String {
        var reader = RequestReader(Self.limits)
        var input = ByteBuffer()
        var words: [String] = []
        for piece in pieces {
            input.writeString(piece)
            do throws(HTTPError) {
                while let event = try reader.next(in: &input) { note(event, in: &words) }
            } catch {
                words.append("\(error.status.rawValue)")
                break
            }
        }
        return words.joined(separator: " ")
    }

    private func note(_ event: RequestReader.Event, in words: inout [String]) {
        switch event {
        case .head(let head):
            words.append("\(head.method?.rawValue ?? "-") \(head.target.path ?? "-")")
        case .body(let part):
            if words.last?.first == "+" {
                words[words.count - 1] += String(buffer: part)
            } else {
                words.append("+" + String(buffer: part))
            }
        case .end: words.append(".")
        }
    }

    /// The result must be the same however the bytes arrive.
    private func read(_ text: String) -> String {
        let whole = read([text])
        #expect(read(text.unicodeScalars.map(String.init)) == whole, "\(text.debugDescription)")
        return whole
    }

    @Test(
        arguments: [
            (
                "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n",
                "This listener does not expect a PROXY header: turn off proxy-protocol for it in "
                    + "your proxies."
            ),
            (
                "\r\n\r\n\0\r\nQUIT\n!",
                "This listener does not expect a PROXY header: turn off proxy-protocol for it in "
                    + "your proxies."
            ),
            ("PROX a\r\n", "The request line must be `METHOD TARGET HTTP/1.1`."),
            ("\r\n\r\n\0\r\nQUI!", "The request must begin with its method."),
        ])
    func `says what is no request`(text: String, detail: String) {
        var reader = RequestReader(Self.limits)
        var input = ByteBuffer(string: text)
        let error = #expect(throws: HTTPError.self) { _ = try reader.next(in: &input) }
        #expect(error?.detail == detail)
    }

    @Test func `reads as many lines as it may`() throws {
        var reader = RequestReader(Self.limits)
        var input = ByteBuffer(string: "GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\n")
        reader.linesLeft = 2
        #expect(try reader.next(in: &input) == nil)
        #expect(input.readableBytes == 19)
        reader.linesLeft = 1
        guard case .head = try reader.next(in: &input) else { Issue.record("no head"); return }
        #expect(try reader.next(in: &input) == nil, "the end of the request has no line")
        reader.linesLeft = 9
        guard case .end = try reader.next(in: &input) else { Issue.record("no end"); return }
        #expect(try reader.next(in: &input) == nil)
        #expect(reader.linesLeft == 8)
    }

    @Test(arguments: [
        ("GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a ."),
        ("GET /a HTTP/1.1\nHost: x\n\n", "GET /a ."),
        ("GET /a HTTP/1.0\r\n\r\n", "GET /a ."),
        ("GET /a HTTP/1.7\r\n\r\n", "GET /a ."),
        ("BREW /a HTTP/1.1\r\nHost:\r\n\r\n", "- /a ."),
        ("GET http://x/a?b HTTP/1.1\r\nHost: y\r\n\r\n", "GET /a ."),
        ("GET HTTPS://x?b HTTP/1.1\r\nHost: y\r\n\r\n", "GET / ."),
        ("OPTIONS * HTTP/1.1\r\nHost: y\r\n\r\n", "OPTIONS - ."),
        ("GET /a HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n \r\n\r\n", "GET /a ."),
        ("GET /a HTTP/1.1\r\nHost: x\r\nA:\u{1}b\u{7F}\r\n\r\n", "GET /a ."),
        (
            "GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nab",
            "GET /a +ab ."
        ),
        (
            "GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 02\r\n\r\nabGET /b HTTP/1.0\r\n\r\n",
            "GET /a +ab . GET /b ."
        ),
        (
            "GET /a HTTP/1.1\r\nHost: x\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"
                + "GET /b HTTP/1.0\r\n\r\n", "GET /a . GET /b ."
        ),
        ("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.0\r\n\r\n", "CONNECT - . GET /b ."),
    ])
    func `reads`(text: String, expected: String) {
        #expect(read(text) == expected)
    }

    @Test(arguments: [
        ("3\r\nabc\r\n0\r\n\r\n", "GET /a +abc ."),
        ("03;x=\"\r y\"\r\nabc\r\n1 \t\r\nd\r\n00\r\nX: y\r\n\r\n", "GET /a +abcd ."),
        ("0\r\n\n", "GET /a ."),
        ("A\r\n0123456789\r\n0\r\n\r\nGET /b HTTP/1.0\n\n", "GET /a +0123456789 . GET /b ."),
        ("3\nabc", "GET /a 400"), ("x\r\n", "GET /a 400"), ("\r\n", "GET /a 400"),
        ("3 ;a\r\nabc", "GET /a 400"), ("-3\r\n", "GET /a 400"), ("0x3\r\n", "GET /a 400"),
        ("3\r\nabcd", "GET /a +abc 400"), ("3\r\nabc\n", "GET /a +abc 400"),
        ("0\r\nX\r\n\r\n", "GET /a 400"), ("0\r\n X: y\r\n\r\n", "GET /a 400"),
        ("0\r\nContent-Length: x\r\n\r\n", "GET /a 400"),
        ("0\r\nTransfer-Encoding: x\r\n\r\n", "GET /a 501"),
        ("21\r\n", "GET /a 413"), ("fffffffffffffffffff\r\n", "GET /a 413"),
        ("000000000000000000001\r\n", "GET /a 400"),
        ("3;" + String(repeating: "x", count: 30), "GET /a 400"),
    ])
    func `reads chunks`(text: String, expected: String) {
        let head = "GET /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
        #expect(read(head + text) == expected)
    }

    @Test(arguments: [
        "\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n", " GET / HTTP/1.0\r\n\r\n", "\u{16}", "GET /\r\n",
        "GET  / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0 \r\n\r\n", "GET / http/1.0\r\n\r\n",
        "GET / HTTP/1.10\r\n\r\n", "GET\t/ HTTP/1.0\r\n\r\n", "G(T / HTTP/1.0\r\n\r\n",
        "GET /é HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\r\n\r\n", "GET / HTTP/1.0\r\n A: b\r\n\r\n",
        "GET / HTTP/1.0\r\nA : b\r\n\r\n", "GET / HTTP/1.0\r\n: b\r\n\r\n",
        "GET / HTTP/1.0\r\nA\r\n\r\n", "GET / HTTP/1.0\r\nA: b\u{0}\r\n\r\n",
        "GET / HTTP/1.0\r\nA: b\rc\r\n\r\n", "GET / HTTP/1.0\r\nA: \u{B}\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a\r\nHost:\r\n\r\n",
        "GET / HTTP/1.0\r\nContent-Length:\r\n\r\n", "GET / HTTP/1.0\r\nContent-Length: +1\r\n\r\n",
        "GET / HTTP/1.0\r\nContent-Length: 1,\r\n\r\n",
        "GET / HTTP/1.0\r\nContent-Length: 1, 2\r\n\r\n",
        "GET / HTTP/1.0\r\nContent-Length: 1\r\nContent-Length: 01\r\n\r\n",
        "GET / HTTP/1.0\r\nContent-Length: 000000000000000000001\r\n\r\n",
        "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ])
    func `rejects`(text: String) {
        #expect(read(text) == "400")
    }

    @Test(arguments: [
        ("GET / HTTP/2.0\r\n\r\n", "505"), ("GET / HTTP/0.9\r\n\r\n", "505"),
        ("GET /" + String(repeating: "a", count: 60) + " HTTP/1.0\r\n\r\n", "414"),
        (String(repeating: "a", count: 66), "414"),
        ("GET / HTTP/1.0\r\n" + String(repeating: "a:\r\n", count: 5) + "\r\n", "431"),
        ("GET / HTTP/1.0\r\na:" + String(repeating: "a", count: 130), "431"),
        ("GET / HTTP/1.0\r\na:" + String(repeating: "\r\n a", count: 70), "431"),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", "501"),
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "501"),
        // U+212A is the letter K to Unicode.
        ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chun\u{212A}ed\r\n\r\n", "501"),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n", "501"
        ),
    ])
    func `says why it rejects`(text: String, status: String) {
        #expect(read(text) == status)
    }

    @Test func `reads nothing after an error`() throws {
        var reader = RequestReader(Self.limits)
        var input = ByteBuffer(string: "GET\r\nGET / HTTP/1.0\r\n\r\n")
        #expect(throws: HTTPError.self) { try reader.next(in: &input) }
        #expect(try reader.next(in: &input) == nil)
    }

    @Test func `keeps a body of any length as little as any other`() throws {
        var reader = RequestReader(Self.limits)
        var input = ByteBuffer(
            string: "GET / HTTP/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n")
        guard case .head(let head) = try reader.next(in: &input) else {
            Issue.record("no head")
            return
        }
        #expect(head.framing == .length(.max))
        #expect(try reader.next(in: &input) == nil)
    }
}
