import Logging
import PresenceCore
import PresenceWire

// Requests for WebSockets, and the ends of connections for what their protocols forbid.

extension ConnectionLoop where Link: ~Copyable {
    /// Makes a connection a WebSocket, unless its page may not connect.
    mutating func upgrade(_ slot: Int, asAskedBy request: UpgradeRequest) {
        guard originRule.accepts(request.origin) else {
            counters.originsRefused += 1
            let origin = String(decoding: (request.origin ?? []).prefix(128), as: UTF8.self)
            logger.log(
                .warning, "page refused: its origin is not accepted",
                times: counters.originsRefused, metadata: ["origin": "\(origin)"])
            return close(slot, .protocolViolation, by: .httpAnswer(.origin))
        }
        counters.webSockets += 1
        markDirty(slot)
        fill(slot) { outbox, _ in outbox.appendAnswer(request) }
        connections[slot].input.splitter.becomeWebSocket()
        connections[slot].framing = connections[slot].input.splitter.framing
    }

    private var originRule: OriginRule {
        if let origins = configuration.webSocketOrigins { return .listed(origins) }
        return configuration.access == .open ? .loopback : .any
    }

    /// Closes a connection for what it has sent.
    mutating func close(_ slot: Int, for violation: InputViolation) {
        counters.violations += 1
        switch violation {
        case .request(let error) where connections[slot].phase == .anonymous:
            close(slot, .protocolViolation, by: .httpAnswer(error))
        case .message(let code):
            close(slot, .protocolViolation, by: .webSocketEnd(code))
        case .request, .frame:
            close(slot, .protocolViolation, by: .frameTooLong)
        }
    }
}

extension UpgradeError {
    /// How an HTTP client is told why its connection ends before its request was complete.
    init(_ reason: CloseReason?) {
        switch reason {
        case .loginTimeout: self = .timeout
        case .shuttingDown, .overloaded: self = .unavailable
        default: self = .malformed
        }
    }
}
