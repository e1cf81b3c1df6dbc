// Splits the bytes of a connection into messages, by the protocol that its first byte decides on:
// the length of a native frame begins with 0, a request for a WebSocket with `G`. `Framing` is the
// counterpart for output.
//
// It is as large as a native connection needs; a WebSocket has memory of its own.

/// What comes next in the bytes of a connection.
public enum InputOutcome: Hashable, Sendable {
    /// No complete message; the chunk is consumed and its rest is kept.
    case needMore
    /// A keep-alive.
    case keepAlive
    /// A message. Read it before the next call of the splitter.
    case message(InputBody)
    /// A request for a WebSocket: answer it and call `becomeWebSocket`, or close.
    case upgrade(UpgradeRequest)
    /// A ping of the protocol; what its pong must repeat is in the owner's buffer.
    case ping
    /// A pong of the protocol; what it repeats is in the owner's buffer.
    case pong
    /// The peer closes by the protocol's means, and sends nothing more. `endCode` has its code.
    case end
    /// Nothing after it can be read.
    case violation(InputViolation)
}

/// The location of a message's body.
public enum InputBody: Hashable, Sendable {
    /// In the chunk or in the splitter.
    case frame(FrameBody)
    /// In the owner's buffer.
    case unmasked

    /// Whether it is in the splitter.
    public var isKept: Bool {
        if case .frame(let body) = self { body.place == .kept } else { false }
    }
}

/// What a peer must not have sent.
public enum InputViolation: Hashable, Sendable {
    /// A native frame that is longer than the limit.
    case frame
    /// Such a frame whose length is the beginning of something else.
    case foreign(ForeignProtocol)
    /// An HTTP request that is not accepted.
    case request(UpgradeError)
    /// What RFC 6455 does not allow, or a limit of a WebSocket.
    case message(WebSocketCloseCode)
}

/// Splits the bytes of one connection into messages.
public enum InputSplitter {
    /// Nothing has arrived.
    case undecided
    /// Native frames.
    case native(FrameSplitter)
    /// The head of an HTTP request.
    case upgrading(UpgradeReader)
    /// Messages of a WebSocket.
    case webSocket(WebSocketInput)

    /// A splitter of a connection on which nothing has arrived.
    public init() { self = .undecided }

    /// Takes the next message, and advances `offset` past the bytes of the chunk that it took.
    ///
    /// A body that cannot be read where it is replaces the content of `body`.
    public mutating func next(
        in chunk: RawSpan, from offset: inout Int, bodyBytesMax: Int, body: inout [UInt8]
    ) -> InputOutcome {
        switch self {
        case .native(var splitter):
            // Moved and not copied.
            self = .undecided
            let outcome = splitter.next(in: chunk, from: &offset, bodyBytesMax: bodyBytesMax)
            self = .native(splitter)
            return InputOutcome(outcome, bodyBytesMax: bodyBytesMax)
        case .webSocket(let input):
            let outcome = input.reader.next(
                in: chunk, from: &offset, bodyBytesMax: bodyBytesMax, body: &body)
            if case .close(let code?) = outcome { input.endCode = UInt16(exactly: code) }
            return InputOutcome(outcome)
        case .upgrading(var reader):
            self = .undecided
            let outcome = reader.next(in: chunk, from: &offset)
            self = .upgrading(reader)
            return InputOutcome(outcome)
        case .undecided:
            guard offset < chunk.byteCount else { return .needMore }
            decide(by: unsafe chunk.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
            return next(in: chunk, from: &offset, bodyBytesMax: bodyBytesMax, body: &body)
        }
    }

    private mutating func decide(by firstByte: UInt8) {
        self = firstByte == UpgradeReader.firstByte ? .upgrading(.init()) : .native(.init())
    }

    /// The request has been answered: what follows are messages of a WebSocket.
    public mutating func becomeWebSocket(_ reader: WebSocketReader = WebSocketReader()) {
        guard case .upgrading = self else { preconditionFailure("an upgrade without a request") }
        self = .webSocket(WebSocketInput(reader))
    }

    /// The framing of what the peer is sent.
    public var framing: Framing {
        if case .webSocket = self { .webSocket } else { .native }
    }

    /// Whether the owner may pause before the rest of the chunk: not in a request for a WebSocket,
    /// which has few bytes.
    public func canPause(before chunk: RawSpan, at offset: Int) -> Bool {
        switch self {
        case .native, .webSocket: true
        case .upgrading: false
        case .undecided:
            offset < chunk.byteCount
                && (unsafe chunk.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
                    != UpgradeReader.firstByte
        }
    }

    /// Keeps the rest of the chunk, because the owner pauses here, as it may.
    public mutating func keep(_ chunk: RawSpan, from offset: inout Int) {
        switch self {
        case .native(var splitter):
            self = .undecided
            splitter.keep(chunk, from: &offset)
            self = .native(splitter)
        case .webSocket(let input): input.reader.keep(chunk, from: &offset)
        case .upgrading:
            preconditionFailure("a pause in a request for a WebSocket")
        case .undecided:
            // It is native: what begins a request for a WebSocket cannot be kept.
            self = .native(FrameSplitter())
            keep(chunk, from: &offset)
        }
    }

    /// Reads a body that `next` returned for this chunk.
    public func withBody<Value, Failure: Error>(
        _ place: InputBody, in chunk: RawSpan, or body: [UInt8],
        _ read: (RawSpan) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch place {
        case .unmasked: return try unsafe read(body.span.bytes)
        case .frame(let place):
            guard case .native(let splitter) = self else {
                preconditionFailure("a frame of another protocol")
            }
            return try splitter.withBody(place, in: chunk, read)
        }
    }

    /// Frees the memory of a body that was read: its owner may pause for long after it.
    public mutating func release(_ place: InputBody) {
        guard case .frame(let body) = place, case .native(var splitter) = self else { return }
        self = .undecided
        splitter.release(body)
        self = .native(splitter)
    }

    /// Bytes that have arrived and were not yet returned.
    public var bytesBuffered: Int {
        switch self {
        case .undecided: 0
        case .native(let splitter): splitter.bytesBuffered
        case .upgrading(let reader): reader.bytesBuffered
        case .webSocket(let input): input.reader.bytesBuffered
        }
    }

    /// Whether a message has begun that is not complete, between whose parts others may come.
    public var isInMessage: Bool {
        if case .webSocket(let input) = self { input.reader.isInMessage } else { false }
    }

    /// The code with which the peer has closed, if its protocol has such a thing.
    public var endCode: Int? {
        if case .webSocket(let input) = self { input.endCode.map { Int($0) } } else { nil }
    }

    /// What the peer asks for by HTTP, while it has not been answered; nil: not known.
    public var upgradeTarget: UpgradeRequest.Target? {
        if case .upgrading(let reader) = self { reader.target } else { nil }
    }

    /// Whether the peer speaks HTTP, and has not been answered.
    public var isUpgrading: Bool {
        if case .upgrading = self { true } else { false }
    }
}

/// The input of a WebSocket, apart from its connection's memory.
public final class WebSocketInput {
    fileprivate var reader: WebSocketReader
    fileprivate var endCode: UInt16?

    fileprivate init(_ reader: WebSocketReader) {
        self.reader = reader
    }
}

extension InputOutcome {
    fileprivate init(_ outcome: FrameOutcome, bodyBytesMax: Int) {
        switch outcome {
        case .needMore: self = .needMore
        case .keepAlive: self = .keepAlive
        case .frame(let body): self = .message(.frame(body))
        case .violation(let bytesClaimed):
            self = .violation(
                ForeignProtocol.violation(bytesClaimed: bytesClaimed, bodyBytesMax: bodyBytesMax))
        }
    }

    fileprivate init(_ outcome: UpgradeOutcome) {
        switch outcome {
        case .needMore: self = .needMore
        case .request(let request): self = .upgrade(request)
        case .rejected(let error): self = .violation(.request(error))
        }
    }

    fileprivate init(_ outcome: WebSocketOutcome) {
        switch outcome {
        case .needMore: self = .needMore
        case .keepAlive: self = .keepAlive
        case .text, .binary: self = .message(.unmasked)
        case .ping: self = .ping
        case .pong: self = .pong
        case .close: self = .end
        case .violation(let code): self = .violation(.message(code))
        }
    }
}
