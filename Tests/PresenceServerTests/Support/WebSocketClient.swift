import EventLoop
import Glibc
import Testing

/// A blocking WebSocket, for tests: it answers nothing by itself.
final class WebSocketClient {
    private let descriptor: CInt
    private var received: [UInt8] = []
    private var lastID = 0

    /// What a frame is.
    enum Opcode: UInt8 {
        case text = 1
        case close = 8
        case ping = 9
        case pong = 10
    }

    /// Connects to a service, and asks for a WebSocket.
    init(_ service: RunningService) throws {
        descriptor = try connectedSocket(service.address.host, service.address.port)
        try write(
            Array(
                """
                GET /v1/socket HTTP/1.1\r
                Host: a\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                Sec-WebSocket-Version: 13\r
                \r

                """.utf8))
        let end = Array("\r\n\r\n".utf8)
        while received.count < end.count || !received.suffix(end.count).elementsEqual(end) {
            try fill()
        }
        #expect(received.starts(with: "HTTP/1.1 101 ".utf8))
        received = []
    }

    deinit { close(descriptor) }

    /// Sends a frame. Its mask is zero, so that its payload is as it was.
    func send(_ payload: String, _ opcode: Opcode = .text) throws {
        try write(header(payload.utf8.count, opcode) + Array(payload.utf8))
    }

    /// Sends the first bytes of a frame.
    func sendPart(of payload: String, _ byteCount: Int) throws {
        try write(header(payload.utf8.count, .text) + Array(payload.utf8.prefix(byteCount)))
    }

    private func header(_ count: Int, _ opcode: Opcode) -> [UInt8] {
        let length: [UInt8] =
            switch count {
            case ..<126: [0x80 | UInt8(count)]
            case ..<65_536: [0x80 | 126, UInt8(count >> 8), UInt8(truncatingIfNeeded: count)]
            default:
                [0x80 | 127] + withUnsafeBytes(of: UInt64(count).bigEndian) { Array($0) }
            }
        return [0x80 | opcode.rawValue] + length + [0, 0, 0, 0]
    }

    /// The next frame from the service.
    func frame() throws -> (opcode: Opcode, payload: [UInt8]) {
        try fill(to: 2)
        let opcode = try #require(Opcode(rawValue: received[0] & 0x0F))
        var start = 2
        var count = Int(received[1])
        if count == 126 {
            start = 4
            try fill(to: start)
            count = Int(received[2]) << 8 | Int(received[3])
        }
        try fill(to: start + count)
        let payload = Array(received[start..<start + count])
        received.removeFirst(start + count)
        return (opcode, payload)
    }

    /// The text of the next frame.
    func text() throws -> String {
        let (opcode, payload) = try frame()
        #expect(opcode == .text)
        return String(decoding: payload, as: UTF8.self)
    }

    /// Sends a request; the text of its response.
    @discardableResult
    func call(_ method: String, _ params: String = "{}") throws -> String {
        lastID += 1
        try send(#"{"jsonrpc":"2.0","id":\#(lastID),"method":"\#(method)","params":\#(params)}"#)
        while true {
            let text = try text()
            if text.contains(#""id":\#(lastID),"#) { return text }
        }
    }

    /// Logs in, and reads the login list.
    func login(_ account: String) throws {
        try call("login", #"{"account":"\#(account)","device":"tab","client":"web"}"#)
        #expect(try text().contains(#""synced""#))
    }

    private func write(_ bytes: [UInt8]) throws {
        let count = bytes.withUnsafeBytes {
            Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
        }
        try #require(count == bytes.count)
    }

    private func fill(to count: Int) throws {
        while received.count < count { try fill() }
    }

    private func fill() throws {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        try #require(Glibc.poll(&poll, 1, 60_000) == 1, "nothing came")
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        try #require(count > 0, "the connection is closed")
        received += buffer[..<count]
    }
}
