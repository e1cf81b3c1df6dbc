import Connections
import Containers
import Passwords
import PresenceCore
import PresenceWire
import PresenceXMPP

/// An XMPP client: its stream, and what it waits for.
///
/// Its functions are given the clients of its loop, of which it is one. A question to the engine
/// host is a request in progress, as a native one is: nothing is read until its answer.
final class XMPPClient {
    /// Its slot.
    let slot: Int
    /// What all streams use.
    let service: StreamService
    var stream: XMPPStream
    /// What splits the bytes of its WebSocket; nil: its stream is in the bytes themselves.
    var webSocket: InputSplitter?
    /// The request in progress.
    var awaiting: XMPPRequestInProgress?
    /// How long its token is valid.
    var term: TokenTerm?
    /// What answers are addressed to; nil before the device is bound.
    private(set) var sender: StanzaSender?
    /// What waits for a rate limit.
    var paced = PacedStanzas()
    /// How the stanza arrives that has begun.
    var arrival = StanzaArrival()
    /// The number of the last ping or push.
    private var number: UInt64 = 0
    /// The messages that it was sent.
    var untaken = UntakenMessages()
    /// The devices that have presented themselves to it, other than by a subscription.
    var presented = PresentedDevices()

    /// A client by a stream, or by the messages of a WebSocket.
    init(
        _ slot: Int, of service: StreamService, isEncrypted: Bool, webSocket: InputSplitter? = nil
    ) {
        self.slot = slot
        self.service = service
        self.webSocket = webSocket
        stream = XMPPStream(
            isEncrypted: isEncrypted, framing: webSocket == nil ? .stream : .messages)
    }

    /// The number of another ping or push.
    func nextNumber() -> UInt64 {
        number += 1
        return number
    }

    /// The device is bound.
    func bind() {
        stream.bound()
        sender = stream.client
    }

    /// The place of its domain among those of the service.
    var domainPlace: Int { service.settings.domains.firstIndex(of: stream.domain) ?? 0 }

    // MARK: Output

    /// Sends the stanza that `encode` appends.
    func send(_ clients: inout Clients, _ encode: (inout [UInt8]) -> Void) {
        guard webSocket != nil || stream.management != nil else {
            return clients.table.append(to: slot, encode)
        }
        var elements: [UInt8] = []
        encode(&elements)
        append(elements.span, &clients)
    }

    /// Appends elements to what the client is sent. Its own bytes go through here, or through
    /// `Clients.push`: so its stanzas are counted.
    func append(_ elements: Span<UInt8>, _ clients: inout Clients) {
        stream.noteSent(elements)
        clients.table.append(to: slot) {
            if webSocket != nil { $0.appendMessages(of: elements) } else { $0.append(elements) }
        }
    }

    /// Answers a request with an error.
    func send(_ error: StanzaError, _ head: StanzaHead, _ clients: inout Clients) {
        clients.counters.stanzaErrors.count(error.condition)
        respond(&clients) { $0.append(error, head, to: $1) }
    }

    /// Answers a request by the stanza that `encode` appends. Before the device is bound there is
    /// none that could be answered so.
    func respond(_ clients: inout Clients, _ encode: (inout [UInt8], StanzaSender) -> Void) {
        guard let sender else { return clients.endMismatched(slot) }
        send(&clients) { encode(&$0, sender) }
    }

    /// Moves what the stream has to send to the outbox.
    func flushStream(_ clients: inout Clients) {
        guard !stream.output.isEmpty else { return }
        let bytes = stream.takeOutput()
        send(&clients) { $0 += bytes }
    }

    // MARK: Requests in progress

    /// Nothing is read until `request` is answered.
    func wait(for request: XMPPRequestInProgress) {
        precondition(awaiting == nil, "two requests at a time")
        awaiting = request
    }

    /// Has the engine carry out a command. Its output is carried out after the caller has returned:
    /// an answer must not overtake what the loop is still carrying out.
    func ask(
        for request: XMPPRequestInProgress, _ clients: inout Clients,
        _ command: (inout RequestTexts) -> Command
    ) {
        wait(for: request)
        let name = clients.inbound.append(commandOf: clients.connectionID(slot), command)
        clients.counters.requests += 1
        clients.counters.requestsByMethod.count(name)
    }
}

/// What an XMPP client waits for.
enum XMPPRequestInProgress {
    /// TLS begins when everything is written.
    case encryption
    case authentication
    case registration
    case bind
    case logout
    /// How it presents itself to its subscribers, which is not answered.
    case presence(StanzaHead, Availability)
    /// How it presents itself to an address, or a probe: what is not answered.
    case availability(StanzaHead)
    /// That it is not available any more, and how it says so.
    case hiding(StanzaHead, Availability)
    /// A word to a contact, or a change of one.
    case relation(StanzaHead, RelationChange)
    /// A change of the password, which is answered with what its user should know.
    case password(StanzaHead, Password.Remark?)
    /// That it is sent copies of messages from now on, or not any more (XEP-0280).
    case carbons(StanzaHead)
    /// Since when a contact is offline.
    case lastSeen(StanzaHead)
    /// What an account has, which is only for clients that see it.
    case discovery(StanzaHead, Discovered)
    /// Whether a stanza for another device could be handed to it; nil: that is not answered.
    case relay(StanzaHead?)
    /// Whether a message that is not stored could be handed to another device: it is not answered
    /// whether that is connected. Nil: it is not answered at all.
    case relayedMessage(StanzaHead?)
    /// That a message is stored, which is not answered.
    case message(StanzaHead, WrittenMessage)
    /// That messages are taken.
    case taking(MessageID)
    /// A card, or that its own is replaced.
    case card(StanzaHead)
    /// Its contacts.
    case roster(StanzaHead)

    /// What an error is in answer to; nil: to no stanza.
    var head: StanzaHead? {
        switch self {
        case .encryption, .authentication, .registration, .bind, .logout, .taking: nil
        case .presence(let head, _), .availability(let head), .hiding(let head, _),
            .relation(let head, _), .password(let head, _), .lastSeen(let head),
            .discovery(let head, _), .roster(let head), .message(let head, _),
            .card(let head), .carbons(let head):
            head
        case .relay(let head), .relayedMessage(let head): head
        }
    }
}

/// What is asked of an account by XEP-0030.
enum Discovered {
    case features
    case items
}
