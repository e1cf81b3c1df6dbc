import Connections
import EventLoop
import Logging
import PresenceCore
import PresenceXMPP

// The last words to XMPP clients.

extension XMPPClient {
    /// Sends the client why its connection ends, and closes it when that has been written. To a
    /// client that has ended its stream, only the end of the service's stream is sent.
    func close(_ reason: CloseReason?, _ clients: inout Clients) {
        if let reason {
            let words = lastWords(reason, &clients)
            send(&clients) { $0 += words }
        } else {
            flushStream(&clients)
        }
        clients.end(
            slot, reason.map(Ending.init) ?? .logout, ConnectionEnd(reason), .inOrder)
    }

    /// Ends the stream with an error that says why. Returns what the client is to be sent.
    func lastWords(_ reason: CloseReason, _ clients: inout Clients) -> [UInt8] {
        let error = StreamError(reason)
        clients.counters.streamErrors.count(error.condition)
        var random = SystemRandomNumberGenerator()
        stream.close(error, of: service, using: &random)
        return stream.takeOutput()
    }

    /// The stream has ended because of what the client has sent.
    func endStream(
        after error: StreamError, by closing: Closing = .inOrder, _ clients: inout Clients
    ) {
        clients.counters.violations += 1
        clients.counters.streamErrors.count(error.condition)
        if error.condition == .hostUnknown {
            // With a domain that is set wrongly, every client is rejected.
            let address = String(decoding: clients.origin(of: slot).address, as: UTF8.self)
            clients.logger.log(
                .notice, "an XMPP client asks for another domain than xmpp-domain",
                times: clients.counters.streamErrors[.hostUnknown],
                metadata: ["address": "\(address)"])
        }
        clients.end(slot, .protocolViolation, .violation, closing)
    }

    /// Sends a ping to a client that has been silent. Any bytes are an answer. A client of a
    /// WebSocket gets a ping of that protocol, which browsers answer without the page. It may
    /// answer only the last ping, whose number thus answers the earlier ones.
    func sendPing(_ clients: inout Clients) {
        let number = nextNumber()
        guard webSocket == nil else {
            return clients.sendPing(to: slot, Array(String(number).utf8))
        }
        guard let sender else { return }
        send(&clients) { $0.appendPing(number: number, to: sender) }
    }

    /// How long the client may be silent. Until it has answered a question, it may be one that
    /// answers none, of which only its kernel gives a sign.
    var patience: Patience {
        var patience = Patience.ofXMPP
        patience.countsAcknowledgements = webSocket == nil && untaken.answering != .answers
        return patience
    }
}

extension Patience {
    /// XMPP clients are asked first, since few send anything by themselves, whatever the heartbeat.
    static var ofXMPP: Patience {
        Patience(milliseconds: 60_000, millisecondsMax: 90_000, canAsk: true)
    }
}
