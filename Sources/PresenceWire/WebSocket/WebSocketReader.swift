// Reads messages from the bytes of a WebSocket (RFC 6455), as `FrameSplitter` does from those of
// the native protocol: the chunk is the loop's, and only what is incomplete is kept.
//
// A message is given to the owner in a buffer of the owner's, without its mask. Fragments are put
// together here; what they may have in all is the limit of a message. A frame is rejected as soon
// as its header is complete, before any byte of it is kept.

/// What comes next in the bytes of a WebSocket.
public enum WebSocketOutcome: Hashable, Sendable {
    /// No complete message; the chunk is consumed and its rest is kept.
    case needMore
    /// An empty text message.
    case keepAlive
    /// A text message; it is in the owner's buffer.
    case text
    /// A binary message; it is in the owner's buffer.
    case binary
    /// A ping; what its pong must repeat is in the owner's buffer.
    case ping
    /// A pong; what it repeats is in the owner's buffer.
    case pong
    /// The peer closes, with a code or without. Nothing after it is read.
    case close(code: Int?)
    /// The WebSocket must be closed with this code. Nothing after it is read.
    case violation(WebSocketCloseCode)
}

/// Reads messages from the bytes of a WebSocket.
///
/// The order of its members leaves no gaps: every WebSocket has one.
public struct WebSocketReader: Sendable {
    private var unread = UnreadInput()
    /// The message whose last fragment has not arrived.
    private var message = FragmentedMessage()
    /// Whether binary messages are accepted.
    public var acceptsBinary = false
    /// The most fragments of a message.
    public var fragmentsMax: UInt32 = 64

    /// A reader of a WebSocket on which nothing has arrived.
    public init() {}

    /// Bytes that have arrived and were not yet returned, without the headers of fragments.
    public var bytesBuffered: Int { unread.count + message.bytes.count }

    /// Bytes of memory in use.
    public var bytesAllocated: Int { unread.bytesAllocated + message.bytes.capacity }

    /// Whether a message has begun whose last fragment has not arrived.
    public var isInMessage: Bool { message.fragmentCount > 0 }

    /// Takes the next message, and advances `offset` past the bytes of the chunk that it took.
    ///
    /// Its body replaces the content of `body`.
    public mutating func next(
        in chunk: RawSpan, from offset: inout Int, bodyBytesMax: Int, body: inout [UInt8]
    ) -> WebSocketOutcome {
        precondition(offset >= 0 && offset <= chunk.byteCount)
        while true {
            let step: Step
            if unread.count > 0 {
                step = nextInKept(chunk, from: &offset, bodyBytesMax, &body)
            } else {
                unread.forgetIfEmpty()
                step = nextInChunk(chunk, from: &offset, bodyBytesMax, &body)
            }
            switch step {
            case .fragment: continue
            case .outcome(let outcome): return outcome
            }
        }
    }

    /// Keeps the rest of the chunk, because the owner pauses here.
    public mutating func keep(_ chunk: RawSpan, from offset: inout Int) {
        unread.keep(chunk, from: &offset)
    }

    /// What a frame was.
    private enum Step {
        /// A fragment of a message that is not complete.
        case fragment
        case outcome(WebSocketOutcome)
    }

    private mutating func nextInChunk(
        _ chunk: RawSpan, from offset: inout Int, _ bodyBytesMax: Int, _ body: inout [UInt8]
    ) -> Step {
        let rest = chunk.extracting(droppingFirst: offset)
        switch WebSocketHeader.read(rest) {
        case .invalid: return .outcome(.violation(.protocolError))
        case .incomplete: break
        case .complete(let header):
            if let code = violation(of: header, bodyBytesMax) {
                return .outcome(.violation(code))
            }
            let end = header.byteCount + header.payloadCount
            guard end <= rest.byteCount else { break }
            offset += end
            return take(header, rest.extracting(header.byteCount..<end), &body)
        }
        unread.keep(chunk, from: &offset)
        return .outcome(.needMore)
    }

    private mutating func nextInKept(
        _ chunk: RawSpan, from offset: inout Int, _ bodyBytesMax: Int, _ body: inout [UInt8]
    ) -> Step {
        while true {
            switch unread.withBytes(unread.range, WebSocketHeader.read) {
            case .invalid: return .outcome(.violation(.protocolError))
            case .incomplete(let bytesNeeded):
                guard unread.has(bytesNeeded, orPullsFrom: chunk, at: &offset) else {
                    return .outcome(.needMore)
                }
            case .complete(let header):
                if let code = violation(of: header, bodyBytesMax) {
                    return .outcome(.violation(code))
                }
                let count = header.byteCount + header.payloadCount
                guard unread.has(count, orPullsFrom: chunk, at: &offset) else {
                    return .outcome(.needMore)
                }
                _ = unread.take(header.byteCount)
                let place = unread.take(header.payloadCount)
                let input = unread
                let step = input.withBytes(place) { take(header, $0, &body) }
                unread.forgetIfEmpty()
                return step
            }
        }
    }

    /// Which rule a frame breaks at this place; nil: none.
    private func violation(
        of header: WebSocketHeader, _ bodyBytesMax: Int
    ) -> WebSocketCloseCode? {
        switch header.opcode {
        case .close, .ping, .pong: return nil
        case .binary where !acceptsBinary: return .unsupportedData
        case .text, .binary:
            guard !isInMessage else { return .protocolError }
        case .continuation:
            guard isInMessage else { return .protocolError }
            guard message.fragmentCount < fragmentsMax else { return .policyViolation }
        }
        return header.payloadCount > bodyBytesMax - message.bytes.count ? .tooBig : nil
    }

    private mutating func take(
        _ header: WebSocketHeader, _ payload: RawSpan, _ body: inout [UInt8]
    ) -> Step {
        switch header.opcode {
        case .ping, .pong:
            body.removeAll(keepingCapacity: true)
            body.append(payload, maskedWith: header.mask)
            return .outcome(header.opcode == .ping ? .ping : .pong)
        case .close:
            body.removeAll(keepingCapacity: true)
            body.append(payload, maskedWith: header.mask)
            return .outcome(Self.close(body))
        case .text, .binary:
            guard header.isFinal else { break }
            body.removeAll(keepingCapacity: true)
            body.append(payload, maskedWith: header.mask)
            return .outcome(Self.outcome(body, isText: header.opcode == .text))
        case .continuation:
            break
        }
        if header.opcode != .continuation { message.isText = header.opcode == .text }
        message.fragmentCount += 1
        message.bytes.append(payload, maskedWith: header.mask)
        guard header.isFinal else { return .fragment }
        body.removeAll(keepingCapacity: true)
        body.append(contentsOf: message.bytes)
        let isText = message.isText
        message = FragmentedMessage()
        return .outcome(Self.outcome(body, isText: isText))
    }

    private static func outcome(_ body: [UInt8], isText: Bool) -> WebSocketOutcome {
        guard isText else { return .binary }
        guard !body.isEmpty else { return .keepAlive }
        return body.isUTF8 ? .text : .violation(.invalidText)
    }

    /// Reads the payload of a close frame: a code and a text, or nothing.
    private static func close(_ payload: [UInt8]) -> WebSocketOutcome {
        guard !payload.isEmpty else { return .close(code: nil) }
        guard payload.count >= 2 else { return .violation(.protocolError) }
        let code = Int(payload[0]) << 8 | Int(payload[1])
        guard WebSocketCloseCode.isValid(code) else { return .violation(.protocolError) }
        return Array(payload[2...]).isUTF8 ? .close(code: code) : .violation(.invalidText)
    }
}

/// The fragments of a message, as far as they have arrived.
private struct FragmentedMessage {
    var bytes: [UInt8] = []
    var fragmentCount: UInt32 = 0
    var isText = false
}
