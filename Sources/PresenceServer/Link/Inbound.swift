import Containers
import EventLoop
import PresenceCore
import PresenceWire

/// What a connection loop has for the engine host, in order. Its owner reuses the buffer.
struct Inbound: Sendable {
    private(set) var items: [InboundItem] = []
    /// Names and texts of the requests among them.
    private(set) var texts = RequestTexts()

    /// Whether there is nothing.
    var isEmpty: Bool { items.isEmpty }

    mutating func append(_ item: InboundItem) {
        items.append(item)
    }

    /// Appends the last request of `decoder`.
    mutating func append(
        _ method: Method, of decoder: inout RequestDecoder, from connection: ConnectionID,
        at origin: ConnectionOrigin?
    ) {
        let mark = decoder.appendTexts(to: &texts)
        items.append(
            .request(ClientRequest(connection: connection, method: method, texts: mark), origin))
    }

    /// Appends a command, whose names and texts `command` adds. Returns its name.
    mutating func append(
        commandOf connection: ConnectionID, _ command: (inout RequestTexts) -> Command
    ) -> MethodName {
        let mark = texts.begin()
        let command = command(&texts)
        items.append(
            .request(
                ClientRequest(connection: connection, method: .command(command), texts: mark),
                nil))
        return command.name
    }

    /// Appends what `other` has.
    mutating func append(contentsOf other: borrowing Inbound) {
        let offset = texts.append(contentsOf: other.texts)
        for item in other.items {
            guard case .request(var request, let origin) = item else {
                items.append(item)
                continue
            }
            request.texts = request.texts.moved(by: offset)
            items.append(.request(request, origin))
        }
    }

    /// Forgets everything and keeps the memory.
    mutating func removeAll() {
        items.clear()
        texts.removeAll()
    }
}

/// A request of a client, decoded, with every limit checked that depends on it alone.
struct ClientRequest: Sendable {
    var connection: ConnectionID
    var method: Method
    /// Where its names and texts begin.
    var texts: RequestTexts.Mark
}

/// Where a connection comes from.
struct ConnectionOrigin: Sendable {
    /// Its network address, for app servers to read.
    var address: [UInt8]
    /// The network that limits per address count as one.
    var network: ClientNetwork?
}

/// One thing that a connection loop has for the engine host.
enum InboundItem: Sendable {
    /// A request; with the origin of the connection if it has a credential.
    case request(ClientRequest, ConnectionOrigin?)
    /// An XMPP client has to prove that it is an account.
    indirect case authenticate(XMPPAuthentication)
    /// An XMPP client registers an account, or changes the password of its account.
    indirect case changePassword(PasswordTask)
    /// An XMPP client that is authenticated begins a session.
    indirect case bind(ConnectionID, Login)
    /// An XMPP client reads or replaces a card.
    indirect case card(ConnectionID, CardRequest)
    /// A stanza of an XMPP client for another device.
    indirect case relay(RelayedStanza)
    /// A message of an XMPP client is stored: other clients are to be sent copies.
    indirect case copy(CopiedMessage)
    /// A request whose parameters are invalid. It is rejected for that, unless its peer has no
    /// permission: that is reported first.
    indirect case invalid(ConnectionID, MethodName, Rejection)
    /// The connection has not taken an event.
    case missed(ConnectionID, TopicHandle, seq: UInt64)
    /// The connection has not taken a copy of a message; with those before it misses `count`.
    case missedCopies(ConnectionID, count: Int)
    /// The connection has written everything: the next piece of a list can follow.
    case drained(ConnectionID)
    /// A connection that the engine may know has ended: it was logged in, or its login is in
    /// progress.
    case lost(LostConnection)
    /// A connection is closed, logged in or not: its memory is free.
    case closed
    /// What a loop has measured for the question with this number.
    indirect case measured(LoopReport, question: UInt64)
    /// The port accepts connections, or cannot.
    case listening(UVError?)
    /// The loop has no connections any more.
    case finished
}

/// A connection that has ended. Its session may continue on another one.
struct LostConnection: Sendable {
    var connection: ConnectionID
    var end: ConnectionEnd
    /// When bytes of it last arrived.
    var lastHeard: Mono
    /// Bytes that it was sent and has not read.
    var unsentBytes: Int
}
