// The stream of an XMPP client: random stanzas in every phase, and bytes that are none.
//
// However the bytes are cut up, and however late questions are answered, the stream hears and says
// the same. What it says is a stream itself. Nothing is relayed before the bind, and no password is
// asked for in clear unless that is allowed.

import Containers
import Passwords
import PresenceXMPP
import XML

/// What a client may send next.
private let pieces = [
    Client.header, Client.header, Client.startTLS, Client.login, Client.plain("alice", "no"),
    Client.plain("nobody", "pencil"), Client.auth("SCRAM-SHA-1", base64("n,,n=alice,r=x")),
    Client.auth("SCRAM-SHA-256", base64("y,a=alice@example.org,n=alice,r=x")),
    Client.auth("PLAIN", ""), Client.response(base64("\0alice\0pencil")), Client.response(""),
    Client.response(base64("c=biws,r=x,p=AAAAAAAAAAAAAAAAAAAAAAAAAAA=")),
    "<abort xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>", Client.bind, Client.bind, Client.session,
    "<iq type='set'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>", Client.presence,
    "<presence type='subscribe' to='bob@example.org'/>", "<message><body>a</body></message>",
    "<iq type='get' id='1'><query xmlns='jabber:iq:register'/></iq>",
    "<iq type='set'><query xmlns='jabber:iq:register'><username>zoe</username>"
        + "<password>pencil</password></query></iq>",
    "<iq type='get' id='2'><ping xmlns='urn:xmpp:ping'/></iq>", "<iq type='result' id='2'/>",
    "<stream:error/>", "<unknown/>", " ", "\n", "<a b='&lt;&#10;'>&amp;<![CDATA[<]]></a>",
    "<!-- -->", "</stream:stream>",
]

/// A history, in segments: encryption begins between two of them only.
private func segments(_ input: inout Input) -> [[UInt8]] {
    var segments: [[UInt8]] = [bytes(Client.header)]
    for _ in 0..<16 where !input.isEmpty {
        var segment: [UInt8] = []
        for _ in 0..<input.below(6) {
            switch input.below(8) {
            case 0: segment += (0..<input.below(32)).map { _ in input.byte() }
            case 1:
                var piece = bytes(input.pick(pieces))
                piece[input.below(piece.count)] = input.byte()
                segment += piece
            default: segment += bytes(input.pick(pieces))
            }
        }
        segments.append(segment)
    }
    return segments
}

private struct Situation {
    let isEncrypted: Bool
    let allowsPlaintext: Bool
    let allowsRegistration: Bool
    let framing: StreamFraming

    init(_ bits: UInt8) {
        isEncrypted = bits & 1 == 0
        allowsPlaintext = bits & 2 != 0
        allowsRegistration = bits & 4 != 0
        framing = bits & 8 == 0 ? .stream : .messages
    }

    var peer: StreamPeer {
        StreamPeer(isEncrypted: isEncrypted, framing: framing) {
            $0.allowsPlaintext = allowsPlaintext
            $0.allowsRegistration = allowsRegistration
        }
    }
}

/// What happens if each segment is cut after as many bytes as `cut` says.
private func play(
    _ segments: [[UInt8]], in situation: Situation, isLate: Bool, pauses: Bool = false,
    cut: (Int) -> Int
) -> StreamPeer {
    var peer = situation.peer
    peer.answers = !isLate
    peer.pauses = pauses
    for segment in segments {
        peer.stream.encrypted()
        var start = 0
        while start < segment.count {
            let end = min(segment.count, start + max(1, cut(segment.count)))
            peer.receive(segment[start..<end])
            while peer.stream.awaitsAnswer, peer.isAsked { peer.answerNow() }
            require(peer.stream.bytesBuffered <= 100_000, "too much is kept")
            start = end
        }
    }
    check(peer, situation)
    return peer
}

private func check(_ peer: StreamPeer, _ situation: Situation) {
    let log = peer.log
    let isRelayed = log.contains { line in
        ["message ", "presence ", "iq ", "rejected "].contains { line.hasPrefix($0) }
    }
    let isBound = log.contains { $0.contains("<jid>") }
    require(!isRelayed || isBound, "a stanza is relayed before the bind")
    let asks = log.firstIndex { $0.hasPrefix("password ") || $0.hasPrefix("keys ") }
    if let asks, !situation.isEncrypted, !situation.allowsPlaintext {
        require(log[..<asks].contains("startTLS"), "a password is asked for in clear")
    }
    require(peer.isEnded == (peer.stream.phase == .ended), "an end that was not told")
}

/// Reads what the stream said as a client would.
private func readOutput(_ peer: StreamPeer) {
    // To a client that begins with something else than XML.
    guard !peer.output.hasPrefix("HTTP/1.1 400 ") else {
        return require(!peer.output.contains("<?xml"), "a stream after an answer in HTTP")
    }
    let reader = XMLReader(hashSalt: 1)
    // Each header begins a stream.
    for part in peer.output.split(separator: "<?xml", omittingEmptySubsequences: true) {
        let bytes = bytes("<?xml" + part)
        var splitter = StanzaSplitter()
        var offset = 0
        var scope = StreamScope.standard
        reading: while true {
            let chunk = bytes.span.bytes
            let next = splitter.next(in: chunk, from: &offset, bytesMax: 100_000)
            do throws(XMLError) {
                switch next {
                case .needMore, .streamEnd: break reading
                case .whiteSpace: require(false, "white space is said")
                case .header(let place):
                    scope = try splitter.withBytes(of: place, in: chunk) {
                        (bytes) throws(XMLError) in try reader.readHeader(bytes).scope
                    }
                case .stanza(let place):
                    try splitter.withBytes(of: place, in: chunk) { (bytes) throws(XMLError) in
                        _ = try reader.readStanza(bytes, in: scope)
                    }
                case .rejected(let error): throw error
                }
            } catch { require(false, "what is said is no stream: \(error)\n\(peer.output)") }
        }
        require(!splitter.isInPart, "half a stanza is said")
    }
}

/// What a client may send next as a message of a WebSocket.
private let messages = pieces.map { piece in
    let words = piece.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard ["<iq", "<presence", "<message", "<presence/>"].contains(words[0]) else { return piece }
    return piece.replacing("<iq", with: "<iq xmlns='jabber:client'")
        .replacing("<presence", with: "<presence xmlns='jabber:client'")
        .replacing("<message", with: "<message xmlns='jabber:client'")
}
private let open =
    "<open xmlns='urn:ietf:params:xml:ns:xmpp-framing' to='example.org' version='1.0'/>"
private let close = "<close xmlns='urn:ietf:params:xml:ns:xmpp-framing'/>"

/// Plays a history of messages. Each that is said is a document by itself.
private func playMessages(_ input: inout Input, in situation: Situation) {
    var peer = situation.peer
    let reader = XMLReader(hashSalt: 1)
    while !input.isEmpty {
        var message: [UInt8]
        switch input.below(16) {
        case 0: message = (0..<input.below(32)).map { _ in input.byte() }
        case 1:
            message = bytes(input.pick(messages))
            message[input.below(message.count)] = input.byte()
        case 2...5: message = bytes(open)
        case 6: message = bytes(input.pick(messages)) + bytes(input.pick(messages))
        case 7: message = bytes(close)
        default: message = bytes(input.pick(messages))
        }
        for said in peer.read(message: message) {
            let said = bytes(said)
            do throws(XMLError) {
                let element = try unsafe reader.readMessage(said.span.bytes, bytesMax: 100_000)
                require(!element.namespace.isEmpty, "a message without a namespace")
            } catch { require(false, "what is said is no message: \(error)\n\(peer.output)") }
        }
        require(!peer.stream.awaitsAnswer, "a question that was not asked")
    }
    check(peer, situation)
    trace(peer.log.joined(separator: "\n"))
}

/// Plays one history in several ways.
func fuzzStreams(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let situation = Situation(input.byte())
    if situation.framing == .messages { return playMessages(&input, in: situation) }
    let step = input.below(64)
    let segments = segments(&input)
    let whole = play(segments, in: situation, isLate: false) { $0 }
    trace(whole.log.joined(separator: "\n"))
    readOutput(whole)
    let paused = play(segments, in: situation, isLate: false, pauses: true) { $0 }
    require(paused.log == whole.log, "with pauses it is not the same: \(paused.log)")
    for isLate in [false, true] {
        for step in [1, step] {
            let other = play(segments, in: situation, isLate: isLate) { _ in step }
            require(other.log == whole.log, "cut up it is not the same: \(other.log)")
        }
    }
}
