import Containers
import Testing

@testable import PresenceWire

/// What an owner sees of a connection's bytes.
private enum Seen: Equatable {
    case body(String)
    case outcome(InputOutcome)
}

/// Reads as the owner of a connection does, which accepts every WebSocket.
private struct Reader {
    var splitter = InputSplitter()
    var seen: [Seen] = []
    private var body: [UInt8] = []
    private var isOver = false

    mutating func feed(_ chunk: [UInt8]) {
        var offset = 0
        while !isOver {
            let outcome = splitter.next(
                in: chunk.span.bytes, from: &offset, bodyBytesMax: 100, body: &body)
            switch outcome {
            case .needMore: return
            case .message(let place):
                let text = splitter.withBody(place, in: chunk.span.bytes, or: body) { span in
                    span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                }
                seen.append(.body(text))
            case .upgrade:
                seen.append(.outcome(outcome))
                splitter.becomeWebSocket()
            case .violation, .end:
                seen.append(.outcome(outcome))
                isOver = true
            case .keepAlive, .ping, .pong:
                seen.append(.outcome(outcome))
            }
        }
    }
}

private let upgrade = Array(
    """
    GET /v1/socket HTTP/1.1\r
    Host: a\r
    Upgrade: websocket\r
    Connection: Upgrade\r
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
    Sec-WebSocket-Version: 13\r
    \r

    """.utf8)

@Suite struct `The first byte of a connection` {
    @Test(arguments: [1, 2, 3, 7, 1_000])
    func `decides on the native protocol`(pieces: Int) {
        var reader = Reader()
        let bytes = [0, 0, 0, 2] + Array("{}".utf8) + [0, 0, 0, 0, 0, 0, 0, 101]
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            reader.feed(Array(bytes[start..<min(start + pieces, bytes.count)]))
        }
        #expect(
            reader.seen == [
                .body("{}"), .outcome(.keepAlive), .outcome(.violation(.frame)),
            ])
        #expect(!reader.splitter.isUpgrading)
    }

    @Test(arguments: [1, 2, 3, 7, 1_000])
    func `decides on WebSocket`(pieces: Int) {
        var reader = Reader()
        let bytes =
            upgrade + MaskedFrame(1, "{}").bytes + MaskedFrame(1, "").bytes
            + MaskedFrame(9, "x").bytes + MaskedFrame(10, "").bytes + MaskedFrame(8, []).bytes
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            reader.feed(Array(bytes[start..<min(start + pieces, bytes.count)]))
        }
        guard case .outcome(.upgrade) = reader.seen.first else {
            Issue.record("\(reader.seen)")
            return
        }
        #expect(
            Array(reader.seen.dropFirst()) == [
                .body("{}"), .outcome(.keepAlive), .outcome(.ping), .outcome(.pong),
                .outcome(.end),
            ])
    }

    @Test func `costs a native connection no memory`() {
        #expect(MemoryLayout<InputSplitter>.size <= MemoryLayout<FrameSplitter>.size)
        #expect(InputSplitter().bytesBuffered == 0)
        // That of a WebSocket is one small object.
        #expect(MemoryLayout<WebSocketReader>.size <= 36)
    }

    @Test func `is not read where the owner pauses`() {
        var splitter = InputSplitter()
        var offset = 0
        var body: [UInt8] = []
        let bytes: [UInt8] = [0, 0, 0, 0]
        splitter.keep(bytes.span.bytes, from: &offset)
        #expect(offset == 4 && splitter.bytesBuffered == 4)
        offset = 0
        let outcome = splitter.next(in: RawSpan(), from: &offset, bodyBytesMax: 9, body: &body)
        #expect(outcome == .keepAlive)
    }
}
