import Connections
import PresenceCore
import PresenceWire

// The last words to native clients, by frames, by a WebSocket, or by HTTP.

/// What a peer is sent about why its connection ends.
enum CloseMessage {
    /// By a `close` notification.
    case notification
    /// The same, after a native frame that was longer than the limit.
    case frameTooLong
    /// The same, after what is no frame.
    case foreign(ForeignProtocol)
    /// By an HTTP answer: the peer speaks HTTP, and is rejected.
    case httpAnswer(UpgradeError)
    /// By a `close` notification and an end of the protocol with a code of its own.
    case webSocketEnd(WebSocketCloseCode)

    /// What the notification says; nil: what it says for its reason.
    fileprivate var sentence: StaticString? {
        switch self {
        case .frameTooLong: "A frame was too long."
        case .foreign(let other): other.sentence
        case .webSocketEnd(let code): code.sentence
        case .notification, .httpAnswer: nil
        }
    }
}

extension Clients {
    /// Sends a native client the reason, and closes its connection when that has been written.
    mutating func closeNative(
        _ slot: Int, _ reason: CloseReason?, retryAfterSeconds: Int?, by message: CloseMessage
    ) {
        var end = (code: reason?.code, word: reason?.word ?? "")
        switch message {
        case .notification where protocols[slot].splitter.isUpgrading:
            table.append(to: slot) { $0.appendAnswer(UpgradeError(reason)) }
        case .httpAnswer(let error):
            table.append(to: slot) { $0.appendAnswer(error) }
        case .notification, .frameTooLong, .foreign, .webSocketEnd:
            if let reason {
                let seconds = self.retryAfterSeconds(reason, retryAfterSeconds)
                send(to: slot) {
                    $0.appendCloseBody(reason, message.sentence, retryAfterSeconds: seconds)
                }
            }
            if case .webSocketEnd(let code) = message { end = (code.rawValue, code.word) }
        }
        self.end(
            slot, reason.map(Ending.init) ?? .logout, ConnectionEnd(reason),
            .whenWritten(code: end.code ?? WebSocketCloseCode.normal.rawValue, end.word))
    }

    /// Writes the reason to a connection that is closed at once.
    mutating func writeNativeLastWords(to slot: Int, _ reason: CloseReason) {
        let seconds = retryAfterSeconds(reason)
        let framing = framing(of: slot)
        table.writeLast(to: slot) { outbox in
            framing.append(to: &outbox) {
                $0.appendCloseBody(reason, retryAfterSeconds: seconds)
            }
        }
    }

    /// Closes a connection for what it has sent.
    mutating func close(_ slot: Int, for violation: InputViolation) {
        counters.violations += 1
        switch violation {
        case .request(let error) where table.phase(of: slot) == .anonymous:
            // Without XMPP there is no such path, whatever else is wrong.
            let isElsewhere = xmpp == nil && protocols.span[slot].splitter.upgradeTarget == .xmpp
            close(slot, .protocolViolation, by: .httpAnswer(isElsewhere ? .path : error))
        case .message(let code):
            close(slot, .protocolViolation, by: .webSocketEnd(code))
        case .foreign(let other) where table.phase(of: slot) == .anonymous:
            close(slot, .protocolViolation, by: .foreign(other))
        case .request, .foreign, .frame:
            close(slot, .protocolViolation, by: .frameTooLong)
        }
    }
}

extension [UInt8] {
    /// The answer to a client that does not speak TLS on a port that does: by HTTP if its first
    /// byte is that of a method, else by a `close` notification.
    static func answerWithoutTLS(toFirstByte first: UInt8) -> Self {
        var bytes: Self = []
        if UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first {
            bytes.appendAnswer(.notEncrypted)
        } else {
            Framing.native.append(to: &bytes) {
                $0.appendCloseBody(
                    .protocolViolation,
                    "This port speaks TLS: begin with its handshake, or use the port without it.")
            }
        }
        return bytes
    }
}

extension UpgradeError {
    /// The response to an HTTP client whose connection ends before its request is complete.
    init(_ reason: CloseReason?) {
        switch reason {
        case .loginTimeout: self = .timeout
        case .shuttingDown, .overloaded: self = .unavailable
        default: self = .malformed
        }
    }
}
