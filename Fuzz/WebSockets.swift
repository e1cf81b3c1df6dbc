// The bytes of a connection that may become a WebSocket: however they come, the same messages come
// out, and no more is kept than has arrived.
//
// The first three bytes of the input say where the limit lies, whether a valid request for a
// WebSocket comes first, and how the rest is cut up.

import PresenceWire

/// What came out of a splitter, in a form that can be kept.
private enum Outcome: Equatable {
    case body([UInt8])
    case ping([UInt8])
    case other(InputOutcome)
}

/// One connection with its splitter.
private struct Reader: PieceReader {
    var splitter = InputSplitter()
    var outcomes: [Outcome] = []
    let bodyBytesMax: Int
    private var body: [UInt8] = []
    private var bytesFed = 0
    private(set) var isOver = false

    init(bodyBytesMax: Int) {
        self.bodyBytesMax = bodyBytesMax
    }

    /// Reads what has come; stops after each message, if `stops` says so, as an owner does whose
    /// request waits for the store.
    mutating func feed(_ chunk: ArraySlice<UInt8>, stops: Bool) {
        let bytes = Array(chunk)
        bytesFed += bytes.count
        var span = bytes.span.bytes
        var offset = 0
        while !isOver {
            let outcome = splitter.next(
                in: span, from: &offset, bodyBytesMax: bodyBytesMax, body: &body)
            note(outcome, span)
            if outcome == .needMore {
                require(offset == span.byteCount, "bytes were left in the chunk")
                break
            }
            if stops, !isOver {
                splitter.keep(span, from: &offset)
                span = RawSpan()
                offset = 0
            }
        }
        // Fragments are kept without their headers, and a frame may be kept with its own.
        require(splitter.bytesBuffered <= bytesFed, "more is kept than has arrived")
        let isBounded =
            isOver || splitter.isUpgrading
            || splitter.bytesBuffered <= 2 * max(bodyBytesMax, 125) + 14
        require(isBounded, "more is kept than a message and a frame")
        if splitter.isUpgrading {
            require(splitter.bytesBuffered <= UpgradeReader.headBytesMax, "a head too long")
        }
    }

    private mutating func note(_ outcome: InputOutcome, _ chunk: RawSpan) {
        switch outcome {
        case .needMore: break
        case .message(let place):
            let copy = splitter.withBody(place, in: chunk, or: body) { span in
                span.withUnsafeBytes { Array($0) }
            }
            require(copy.count <= bodyBytesMax, "a body over the limit")
            outcomes.append(.body(copy))
        case .ping:
            require(body.count <= 125, "a ping too long")
            outcomes.append(.ping(body))
        case .keepAlive, .pong: outcomes.append(.other(outcome))
        case .upgrade(let request):
            outcomes.append(.other(outcome))
            var answer: [UInt8] = []
            answer.appendAnswer(request)
            require(request.acceptKey.count == 28, "a key of another length")
            require(!answer.contains(0), "an answer that is no HTTP")
            splitter.becomeWebSocket()
        case .violation, .end:
            outcomes.append(.other(outcome))
            isOver = true
        }
    }
}

private let request = Array(
    """
    GET /v1/socket HTTP/1.1\r
    Host: a\r
    Upgrade: websocket\r
    Connection: Upgrade\r
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
    Sec-WebSocket-Version: 13\r
    \r

    """.utf8)

/// Cuts one input up in several ways.
func fuzzWebSockets(_ bytes: [UInt8]) {
    var input = Input(bytes)
    let bodyBytesMax = input.pick([0, 1, 7, 64, 255, 4_096, 65_536])
    let isWebSocket = input.pick([false, true])
    let cuts = UInt64(input.byte()) &+ 1
    let bytes = (isWebSocket ? request : []) + input.remainder()
    _ = checkCuts(bytes, seed: cuts) { Reader(bodyBytesMax: bodyBytesMax) }
}
