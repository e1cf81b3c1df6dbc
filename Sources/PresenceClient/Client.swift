/// Why a call could not be made.
public enum ClientError: Error, CustomStringConvertible, Equatable {
    case cannotConnect(String, String)
    /// The address, whose host name has no address.
    case unknownHost(String)
    /// The address, and why there is no TLS.
    case notSecured(String, TLSProblem)
    case connectionLost(String)
    /// The peer ended the connection before the first frame.
    case notThisProtocol(String)
    /// The peer spoke another protocol.
    case otherProtocol(PeerProtocol)
    case timedOut(String)
    case badAnswer(String)
    /// The service rejected the request.
    case rejected(Reply)
    /// The service closed the connection.
    case closed(Reply)

    /// A protocol that is recognised by its first bytes.
    public enum PeerProtocol: String, Sendable {
        case http = "HTTP"
        case xml = "XML"
        case tls = "TLS"
    }

    /// What the service said.
    public struct Reply: Equatable, Sendable {
        /// The protocol's code.
        public let code: Int
        /// The protocol's word.
        public let reason: String
        /// A sentence for people.
        public var message: String
        /// The time to wait before trying again.
        public let retryAfterSeconds: Int?
        /// The accounts because of which it is rejected.
        public var failed: [String] = []

        /// Whether the same may succeed later.
        public var isTransient: Bool {
            code == 416 || code == 503 || code >= 4_500 || code == 4_408 || code == 4_429
        }
    }

    /// A sentence for people.
    public var description: String {
        switch self {
        case .cannotConnect(let address, let why):
            "Cannot connect to \(address): \(why). Is `porchlight serve` running there?"
        case .unknownHost(let address):
            "Cannot connect to \(address): the host name has no address. Check the name."
        case .notSecured(let address, let problem):
            "Cannot connect to \(address) over TLS: \(problem)"
        case .connectionLost(let why): "The connection was lost: \(why)."
        case .notThisProtocol(let what):
            "The connection was closed before the first frame: \(what). If that is a port for TLS, "
                + "add --tls. Otherwise connect to the native port, which is 7400 by default; HTTP "
                + "and XMPP have other ports."
        case .otherProtocol(.tls): "The peer answered in TLS: add --tls."
        case .otherProtocol(let spoken):
            "The peer answered in \(spoken.rawValue). Connect to the native port, which is 7400 by "
                + "default; HTTP and XMPP have other ports."
        case .timedOut(let what):
            "No response to \(what) in time: the service is overloaded, or its disk does not "
                + "respond. Whether it was done is not known."
        case .badAnswer(let what): "The response is not valid: \(what)."
        case .closed(let reply) where reply.message.hasPrefix("This port speaks TLS"):
            "That port speaks TLS: add --tls. (\(reply.code))"
        case .rejected(let reply), .closed(let reply): "\(reply.message) (\(reply.code))"
        }
    }
}

/// A blocking client of the native protocol, for the command line and for tests.
///
/// One connection, used from one thread. Notifications that arrive before an answer are kept for
/// `nextNotification`.
public final class Client {
    let socket: any ByteStream
    private var received: [UInt8] = []
    private var notifications: [Notification] = []
    private var lastID: Int64 = 0
    private var hasHeard = false
    /// How long to wait for a response, in milliseconds. As long as the watchdog of the service
    /// waits: a disk may take many seconds for a write, and a client that gives up earlier does not
    /// know whether it was done.
    public var timeoutMilliseconds = 30_000

    /// A message that the service sends without a request.
    public struct Notification: Sendable {
        /// `events`, `synced`, `expired` or `close`.
        public let method: String
        /// Its parameters.
        public let params: JSON
    }

    /// Uses a connected socket, and owns it from now on.
    public init(socket descriptor: CInt) {
        socket = Socket(adopting: descriptor)
    }

    /// Connects, over TLS if `tls` is given.
    public init(host: String, port: UInt16, tls: ClientTLS? = nil) throws(ClientError) {
        let plain = try Socket(host: host, port: port)
        socket =
            if let tls {
                try SecureSocket(plain, host: host, port: port, tls)
            } else {
                plain
            }
    }

    /// Sends a request and waits for its result.
    public func call(_ method: String, _ params: JSON = [:]) throws(ClientError) -> JSON {
        lastID += 1
        try send([
            "jsonrpc": "2.0", "id": .integer(lastID), "method": .string(method), "params": params,
        ])
        while true {
            guard let message = try nextAnswer() else { throw .timedOut(method) }
            if let notification = notification(in: message) {
                notifications.append(notification)
                if notification.method == "close" { throw closed(notification.params) }
            } else if let result = message["result"] {
                return result
            } else if let error = message["error"] {
                throw rejected(error)
            }
        }
    }

    /// The next message; nil if none arrives in time. A signal ends the wait for a notification,
    /// and not this one: the verb that it ends would fail instead of logging out.
    private func nextAnswer() throws(ClientError) -> JSON? {
        repeat {
            let message = try nextMessage(withinMilliseconds: timeoutMilliseconds)
            if let message { return message }
        } while socket.wasInterrupted
        return nil
    }

    /// The next notification; nil if none arrives in time.
    public func nextNotification(
        withinMilliseconds timeout: Int
    ) throws(ClientError) -> Notification? {
        if !notifications.isEmpty { return notifications.removeFirst() }
        while let message = try nextMessage(withinMilliseconds: timeout) {
            if let notification = notification(in: message) { return notification }
        }
        return nil
    }

    /// Sends a keep-alive frame.
    public func keepAlive() throws(ClientError) {
        try socket.send([0, 0, 0, 0])
    }

    /// Sends a value as a frame.
    public func send(_ message: JSON) throws(ClientError) {
        try sendFrame(Array(message.text.utf8))
    }

    /// Sends bytes as the body of a frame.
    public func sendFrame(_ body: [UInt8]) throws(ClientError) {
        let length = UInt32(body.count)
        let head = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
        try socket.send(head + body)
    }

    /// Half-closes the connection: nothing more is sent.
    public func finishSending() {
        socket.finishSending()
    }

    /// Closes the connection without a logout.
    public func disconnect() {
        socket.shut()
    }

    /// The next frame that is not empty, as a value; nil if none arrives in time.
    public func nextMessage(withinMilliseconds timeout: Int) throws(ClientError) -> JSON? {
        while let body = try nextFrame(withinMilliseconds: timeout) {
            if !body.isEmpty { return try JSON(parsing: body) }
        }
        return nil
    }

    /// The body of the next frame; nil if none arrives in time.
    public func nextFrame(withinMilliseconds timeout: Int) throws(ClientError) -> [UInt8]? {
        while true {
            if let body = takeFrame() { return body }
            guard let bytes = try receive(withinMilliseconds: timeout) else { return nil }
            guard !bytes.isEmpty else {
                throw hasHeard
                    ? .connectionLost("the service closed it")
                    : .notThisProtocol("the peer sent nothing")
            }
            received += bytes
            if !hasHeard, let otherProtocol { throw .otherProtocol(otherProtocol) }
        }
    }

    /// What the peer speaks, if that is another protocol.
    private var otherProtocol: ClientError.PeerProtocol? {
        if received.starts(with: "HTTP".utf8) { return .http }
        if received.starts(with: "<?xml".utf8) { return .xml }
        // An alert.
        return received.starts(with: [0x15, 0x03]) ? .tls : nil
    }

    private func receive(withinMilliseconds timeout: Int) throws(ClientError) -> [UInt8]? {
        do throws(ClientError) {
            return try socket.receive(withinMilliseconds: timeout)
        } catch .connectionLost(let why) where !hasHeard {
            throw .notThisProtocol(why)
        } catch {
            throw error
        }
    }

    private func takeFrame() -> [UInt8]? {
        guard received.count >= 4 else { return nil }
        let length = received[0..<4].reduce(0) { $0 << 8 | Int($1) }
        guard received.count >= 4 + length else { return nil }
        let body = Array(received[4..<4 + length])
        received.removeFirst(4 + length)
        hasHeard = true
        return body
    }

    private func notification(in message: JSON) -> Notification? {
        guard message["id"] == nil, let method = message["method"]?.string else { return nil }
        return Notification(method: method, params: message["params"] ?? [:])
    }

    private func rejected(_ error: JSON) -> ClientError {
        let failed = error["data"]?["failed"]?.array ?? []
        return .rejected(
            ClientError.Reply(
                code: Int(error["code"]?.integer ?? 0),
                reason: error["data"]?["reason"]?.string ?? "",
                message: error["message"]?.string ?? "",
                retryAfterSeconds: error["data"]?["retryAfter"]?.integer.map { Int($0) },
                failed: failed.compactMap { $0["account"]?.string }))
    }

    /// A `close` notification as an error.
    public func closed(_ params: JSON) -> ClientError {
        .closed(
            ClientError.Reply(
                code: Int(params["code"]?.integer ?? 0), reason: params["reason"]?.string ?? "",
                message: params["message"]?.string ?? "",
                retryAfterSeconds: params["retryAfter"]?.integer.map { Int($0) }))
    }
}
