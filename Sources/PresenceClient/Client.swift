/// Why a call could not be made.
public enum ClientError: Error, CustomStringConvertible, Equatable {
    case cannotConnect(String, String)
    case connectionLost(String)
    case timedOut(String)
    case badAnswer(String)
    /// The service has refused the request.
    case refused(Reply)
    /// The service has closed the connection.
    case closed(Reply)

    /// What the service has said.
    public struct Reply: Equatable, Sendable {
        /// The protocol's number.
        public let code: Int
        /// The fixed word.
        public let reason: String
        /// One sentence for a person.
        public let message: String
        /// When to try again.
        public let retryAfterSeconds: Int?

        /// Whether the same may succeed later.
        public var isTransient: Bool {
            code == 416 || code == 503 || code >= 4_500 || code == 4_408 || code == 4_429
        }
    }

    /// One sentence for a person.
    public var description: String {
        switch self {
        case .cannotConnect(let address, let why):
            "Cannot connect to \(address): \(why). Is `porchlight serve` running there?"
        case .connectionLost(let why): "The connection was lost: \(why)."
        case .timedOut(let what): "No answer came to \(what)."
        case .badAnswer(let what): "The answer makes no sense: \(what)."
        case .refused(let reply), .closed(let reply): "\(reply.message) (\(reply.code))"
        }
    }
}

/// A client of the native protocol that waits: for the command line, and for tests.
///
/// One connection, used from one thread. Notifications that come while an answer is waited for
/// are kept for `nextNotification`.
public final class Client {
    private let socket: Socket
    private var received: [UInt8] = []
    private var notifications: [Notification] = []
    private var lastID: Int64 = 0
    /// How long an answer is waited for, in milliseconds.
    public var timeoutMilliseconds = 10_000

    /// Something that the service has sent by itself.
    public struct Notification: Sendable {
        /// `events`, `synced`, `expired` or `close`.
        public let method: String
        /// What it says.
        public let params: JSON
    }

    /// Speaks over a connected socket, which is the client's from now on.
    public init(socket descriptor: CInt) {
        socket = Socket(adopting: descriptor)
    }

    /// Connects.
    public init(host: String, port: UInt16) throws(ClientError) {
        socket = try Socket(host: host, port: port)
    }

    /// Makes a request and waits for its result.
    public func call(_ method: String, _ params: JSON = [:]) throws(ClientError) -> JSON {
        lastID += 1
        try send([
            "jsonrpc": "2.0", "id": .integer(lastID), "method": .string(method), "params": params,
        ])
        while true {
            guard let message = try nextMessage(withinMilliseconds: timeoutMilliseconds) else {
                throw .timedOut(method)
            }
            if let notification = notification(in: message) {
                notifications.append(notification)
                if notification.method == "close" { throw closed(notification.params) }
            } else if let result = message["result"] {
                return result
            } else if let error = message["error"] {
                throw refused(error)
            }
        }
    }

    /// The next notification; nil when none comes in time.
    public func nextNotification(
        withinMilliseconds timeout: Int
    ) throws(ClientError) -> Notification? {
        if !notifications.isEmpty { return notifications.removeFirst() }
        while let message = try nextMessage(withinMilliseconds: timeout) {
            if let notification = notification(in: message) { return notification }
        }
        return nil
    }

    /// Sends a frame with no body: a sign of life.
    public func keepAlive() throws(ClientError) {
        try socket.send([0, 0, 0, 0])
    }

    /// Sends a value as it is.
    public func send(_ message: JSON) throws(ClientError) {
        try sendFrame(Array(message.text.utf8))
    }

    /// Sends bytes as the body of a frame.
    public func sendFrame(_ body: [UInt8]) throws(ClientError) {
        let length = UInt32(body.count)
        let head = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
        try socket.send(head + body)
    }

    /// Sends bytes as they are.
    public func sendRaw(_ bytes: [UInt8]) throws(ClientError) {
        try socket.send(bytes)
    }

    /// Says that nothing more will be sent.
    public func finishSending() {
        socket.finishSending()
    }

    /// Closes the connection without a word.
    public func disconnect() {
        socket.shut()
    }

    /// The next frame that is not empty, as a value; nil when none comes in time.
    public func nextMessage(withinMilliseconds timeout: Int) throws(ClientError) -> JSON? {
        while let body = try nextFrame(withinMilliseconds: timeout) {
            if !body.isEmpty { return try JSON(parsing: body) }
        }
        return nil
    }

    /// The body of the next frame; nil when none comes in time.
    public func nextFrame(withinMilliseconds timeout: Int) throws(ClientError) -> [UInt8]? {
        while true {
            if let body = takeFrame() { return body }
            guard let bytes = try socket.receive(withinMilliseconds: timeout) else { return nil }
            guard !bytes.isEmpty else { throw .connectionLost("the service has closed it") }
            received += bytes
        }
    }

    private func takeFrame() -> [UInt8]? {
        guard received.count >= 4 else { return nil }
        let length = received[0..<4].reduce(0) { $0 << 8 | Int($1) }
        guard received.count >= 4 + length else { return nil }
        let body = Array(received[4..<4 + length])
        received.removeFirst(4 + length)
        return body
    }

    private func notification(in message: JSON) -> Notification? {
        guard message["id"] == nil, let method = message["method"]?.string else { return nil }
        return Notification(method: method, params: message["params"] ?? [:])
    }

    private func refused(_ error: JSON) -> ClientError {
        .refused(
            ClientError.Reply(
                code: Int(error["code"]?.integer ?? 0),
                reason: error["data"]?["reason"]?.string ?? "",
                message: error["message"]?.string ?? "",
                retryAfterSeconds: error["data"]?["retryAfter"]?.integer.map { Int($0) }))
    }

    /// What a `close` notification says, as an error.
    public func closed(_ params: JSON) -> ClientError {
        .closed(
            ClientError.Reply(
                code: Int(params["code"]?.integer ?? 0), reason: params["reason"]?.string ?? "",
                message: params["message"]?.string ?? "",
                retryAfterSeconds: params["retryAfter"]?.integer.map { Int($0) }))
    }
}
