import PresenceWire
import XML

// Carries an XMPP client by the messages of a WebSocket (RFC 7395): what the client writes as a
// stream becomes messages, and the messages that it is sent become a stream. So it has all to say
// and to check that the others have.

/// Between an XMPP client and its connection.
final class SimulatedWebSocket {
    private let reader: XMLReader
    private var received: [UInt8] = []
    private var state = State.upgrading
    /// What the client has to send of itself: pongs.
    private var replies: [UInt8] = []
    private(set) var violations: [String] = []
    /// The domain of the stream, as the service has named it.
    private var domain = ""

    private enum State {
        /// It waits for the answer to its request.
        case upgrading
        case open
        /// The service has closed the WebSocket, or there is none.
        case closed
    }

    /// The request for it.
    static let request = Array(
        """
        GET /xmpp HTTP/1.1\r
        Host: home.example\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Protocol: xmpp\r
        \r

        """.utf8)

    init(_ reader: XMLReader) {
        self.reader = reader
    }

    func takeReplies() -> [UInt8] {
        defer { replies = [] }
        return replies
    }

    func takeViolations() -> [String] {
        defer { violations = [] }
        return violations
    }

    /// What shows that the client lives.
    static var signOfLife: [UInt8] { frame([], opcode: 10) }

    // MARK: To the service

    /// The messages for what the client has written.
    func send(_ bytes: [UInt8]) -> [UInt8] {
        var frames: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty { frames += sendNext(of: &rest) }
        return frames
    }

    private func sendNext(of rest: inout ArraySlice<UInt8>) -> [UInt8] {
        let headerStart = "<?xml version='1.0'?><stream:stream "
        if rest.starts(with: headerStart.utf8) {
            let header = rest.dropFirst(headerStart.utf8.count).prefix { $0 != UInt8(ascii: ">") }
            rest = rest[(header.endIndex + 1)...]
            let attributes = String(decoding: header, as: UTF8.self)
                .replacing("xmlns='jabber:client'", with: "")
            return Self.frame(
                "<open xmlns='urn:ietf:params:xml:ns:xmpp-framing' \(attributes)/>".utf8)
        }
        let end = "</stream:stream>"
        if rest.starts(with: end.utf8) {
            rest = rest.dropFirst(end.utf8.count)
            return Self.frame("<close xmlns='urn:ietf:params:xml:ns:xmpp-framing'/>".utf8)
        }
        let part = Array(rest)
        // White space is no sign of life here.
        guard part != [0x20] else {
            rest = []
            return Self.frame([UInt8](), opcode: 9)
        }
        var finder = StanzaBoundaryFinder.behindHeader
        var place = 0
        let found = unsafe finder.next(
            in: part.span.bytes, from: &place, bytesMax: part.count)
        guard found == .stanza else {
            // It ends the stream.
            rest = []
            return Self.frame(part)
        }
        rest = rest.dropFirst(place)
        if let number = Self.pingNumber(answeredBy: part[..<place]) {
            return Self.frame(number, opcode: 10)
        }
        return Self.frame(declared(String(decoding: part[..<place], as: UTF8.self)).utf8)
    }

    /// The payload of the ping that the client answers, as it has understood it.
    private static func pingNumber(answeredBy stanza: ArraySlice<UInt8>) -> [UInt8]? {
        let start = "<iq type='result' id='ping-".utf8
        guard stanza.starts(with: start) else { return nil }
        return Array(stanza.dropFirst(start.count).prefix { $0 != UInt8(ascii: "'") })
    }

    /// A stanza with its namespace.
    private func declared(_ stanza: String) -> String {
        let names = ["<iq", "<presence", "<message"]
        guard let name = names.first(where: { stanza.hasPrefix($0) }),
            !stanza.prefix(while: { $0 != ">" }).contains(" xmlns=")
        else { return stanza }
        return "\(name) xmlns='jabber:client'\(stanza.dropFirst(name.count))"
    }

    private static func frame(_ payload: some Collection<UInt8>, opcode: UInt8 = 1) -> [UInt8] {
        var frame: [UInt8] = [0x80 | opcode]
        switch payload.count {
        case ..<126: frame.append(0x80 | UInt8(payload.count))
        case ..<65_536:
            frame += [0xFE, UInt8(payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)]
        default:
            frame.append(0xFF)
            frame += withUnsafeBytes(of: UInt64(payload.count).bigEndian) { Array($0) }
        }
        let mask: [UInt8] = [1, 2, 3, 4]
        return frame + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    // MARK: From the service

    /// What the client is sent, as a stream.
    func receive(_ bytes: [UInt8]) -> [UInt8] {
        received += bytes
        var stream: [UInt8] = []
        while violations.isEmpty, receiveNext(into: &stream) {}
        return stream
    }

    private func receiveNext(into stream: inout [UInt8]) -> Bool {
        switch state {
        case .upgrading: return receiveAnswer()
        case .open: return receiveFrame(into: &stream)
        case .closed: return false
        }
    }

    private func receiveAnswer() -> Bool {
        let answer = String(decoding: received, as: UTF8.self)
        guard let first = received.first else { return false }
        // It is rejected before it has said what it speaks, or afterwards.
        let isAnswer = first == UInt8(ascii: "H")
        let start = "HTTP/1.1 101 ".utf8
        guard isAnswer, received.prefix(start.count).elementsEqual(start.prefix(received.count))
        else {
            state = .closed
            return false
        }
        guard let end = answer.firstRange(of: "\r\n\r\n") else { return false }
        received.removeFirst(answer[..<end.upperBound].utf8.count)
        state = .open
        return true
    }

    private func receiveFrame(into stream: inout [UInt8]) -> Bool {
        guard received.count >= 2 else { return false }
        var start = 2
        var count = Int(received[1])
        if count == 126 {
            guard received.count >= 4 else { return false }
            (count, start) = (Int(received[2]) << 8 | Int(received[3]), 4)
        } else if count > 126 {
            violations.append("a frame of \(count)")
            return false
        }
        guard received.count >= start + count else { return false }
        let payload = Array(received[start..<start + count])
        let first = received[0]
        received.removeFirst(start + count)
        switch first {
        case 0x81: stream += element(of: payload)
        case 0x88: state = .closed
        case 0x89 where payload.isEmpty: replies += Self.frame(payload, opcode: 10)
        case 0x89:
            let number = String(decoding: payload, as: UTF8.self)
            let ping = "<iq type='get' id='ping-\(number)' from='\(domain)'>"
            stream += Array((ping + "<ping xmlns='urn:xmpp:ping'/></iq>").utf8)
        case 0x8A: break
        default: violations.append("a frame that begins with \(first)")
        }
        return true
    }

    /// What a message is in a stream.
    private func element(of message: [UInt8]) -> [UInt8] {
        do throws(XMLError) {
            let element = try unsafe reader.readMessage(message.span.bytes, bytesMax: 1 << 20)
            if element.namespace.isEmpty { violations.append("a message without a namespace") }
        } catch { violations.append("a message that is rejected: \(error)") }
        let text = String(decoding: message, as: UTF8.self)
        if text.hasPrefix("<close ") { return Array("</stream:stream>".utf8) }
        let open = "<open xmlns='urn:ietf:params:xml:ns:xmpp-framing'"
        guard text.hasPrefix(open) else { return message }
        let attributes = text.dropFirst(open.count).dropLast(2)
        domain =
            attributes.firstRange(of: " from='").map { from in
                String(attributes[from.upperBound...].prefix { $0 != "'" })
            } ?? ""
        return Array(
            """
            <?xml version='1.0'?><stream:stream xmlns='jabber:client' \
            xmlns:stream='http://etherx.jabber.org/streams'\(attributes)>
            """.utf8)
    }
}
