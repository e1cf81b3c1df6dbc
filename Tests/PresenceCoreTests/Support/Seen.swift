import PresenceCore

/// What a connection gets to see, in words: names instead of ranges, no numbers that only rise.
enum Seen: Hashable {
    case event(State)
    case states([State])
    case synced(Int)
    case expired(type: Int, publishers: [String], cause: SubscriptionEnd = .expired)
    case closed(CloseReason?)
    case rejected(Rejection.Reason)
    case loggedIn(account: String, subscriptions: Int, waiting: Int? = nil)
    case loggedInAppServer
    case refreshed
    case loggedOut
    case pong
    case subscribed(count: Int, states: [State]?)
    case unsubscribed(removed: Int, count: Int)
    case subscriptions([Line], count: Int, more: Bool)
    case subscribers([Line], count: Int, more: Bool)
    case published
    case cleared(Bool)
    case queried([State])
    case sessions([SessionLine], messagesWaiting: Int? = 0)
    case kicked(Int)
    case contact(ContactLine, RelationWord?)
    case related(ContactLine)
    case contacts([ContactLine], count: Int, more: Bool)
    case visibilitySet(Visibility)
    case availabilitySet
    case shown
    case lastSeen(Int64?)
    /// A presence that was addressed to it: the JID of the sender without its domain, and how the
    /// device presents itself, or takes leave.
    case directed(String, DirectedPresence.Kind, String)
    case sent(recipients: Int, reached: Int?, passedOver: Int = 0)
    case taken(waiting: Int)
    case discarded(Int, hasMore: Bool? = nil)
    case deviceSet(DeviceLine)
    case devices([DeviceLine])
    /// The bodies of messages.
    case messages([String])
    /// A copy of what the account has sent on another session.
    case copy(String, to: [String]?, device: String?, missed: Int)
    case done
}

/// A contact in words.
struct ContactLine: Hashable {
    var name: String
    /// none, to, from or both.
    var subscription: String
    var asks = false
    /// The text of its request; nil: it has not asked.
    var request: String?
    var isApprovedBefore = false
    var isContact = true
    var label = ""
}

/// An event or state in words.
struct State: Hashable {
    var publisher: String
    var type: Int
    var value: Int
    var cause: Cause
    var origin: String?
    var ext: String?
    /// Devices as `kind:name`, with `*` where only push reaches them.
    var online: [String]?
    var status: String?
    var lastSeen: Int64?
    /// The devices that it withdraws one by one, of an event of cause `hidden`.
    var withdrawn: [String]?
}

extension [Seen] {
    /// The states among it.
    var states: [State] {
        flatMap { seen -> [State] in
            if case .states(let states) = seen { states } else { [] }
        }
    }
}

/// A subscription in words.
struct Line: Hashable {
    var type: Int
    var name: String
    var created: Int64
    var expires: Int64
}

/// A session in words.
struct SessionLine: Hashable {
    var device: String
    var client: ClientKind
    var connection: SessionEntry.Connectedness
    var lastHeard: Int64
}

/// A device in words.
struct DeviceLine: Hashable {
    var device: String
    var alias = ""
    var tags: [String] = []
    var pushAddress = ""
    /// The kind of its client and the state of its connection, of one that has a session.
    var session: String?
}

extension Effects {
    func text(_ range: ByteRange) -> String {
        let start = Int(range.start)
        return String(decoding: bytes[start..<start + Int(range.count)], as: UTF8.self)
    }

    private func device(_ entry: DeviceEntry) -> String {
        let availability = entry.availability.map { "\(inWords(availabilities[Int($0)]))" } ?? ""
        let push = entry.reach == .push ? "*" : ""
        return "\(entry.client):\(text(entry.name))\(push)\(availability)"
    }

    func line(_ entry: LabelledEntry) -> DeviceLine {
        func words(_ text: [UInt8]) -> String { String(decoding: text, as: UTF8.self) }
        return DeviceLine(
            device: text(entry.device), alias: words(entry.labels.alias),
            tags: entry.labels.tags.map(words), pushAddress: words(entry.labels.pushAddress),
            session: entry.session.map { "\($0.client) \($0.connection)" })
    }

    func line(_ entry: ContactEntry) -> ContactLine {
        ContactLine(
            name: text(entry.account),
            subscription: subscription(entry.seen == .active, entry.sees == .active),
            asks: entry.seen == .pending,
            request: entry.sees == .pending ? entry.requestText.map(text) ?? "" : nil,
            isApprovedBefore: entry.isApprovedBefore, isContact: entry.isContact,
            label: text(entry.label))
    }

    func state(_ event: Event) -> State {
        State(
            publisher: text(event.publisher), type: Int(event.type.number),
            value: Int(event.value), cause: event.cause, origin: event.origin.map(device),
            ext: event.ext.map(text), online: event.online.map { devices[$0].map(device) },
            status: event.status.map {
                "\($0.value)|\($0.ext.map(text) ?? "-")|\($0.expires.milliseconds)"
            },
            lastSeen: event.lastSeen?.milliseconds,
            withdrawn: event.withdrawn.map { devices[$0].map(device) })
    }

    func seen(_ presence: DirectedPresence) -> Seen {
        let availability = presence.device.availability.map { inWords(availabilities[Int($0)]) }
        return .directed(
            text(presence.sender) + "/" + text(presence.device.name), presence.kind,
            availability ?? "")
    }

    func states(_ range: Range<Int>) -> [State] { events[range].map(state) }

    func seen(_ answer: Answer) -> Seen {
        switch answer {
        case .loggedIn(let login):
            .loggedIn(
                account: text(login.account), subscriptions: login.subscriptions,
                waiting: login.waiting)
        case .loggedInAppServer: .loggedInAppServer
        case .refreshed: .refreshed
        case .loggedOut: .loggedOut
        case .pong: .pong
        case .subscribed(_, let count, let range):
            .subscribed(count: count, states: range.map(states))
        case .unsubscribed(let removed, let count): .unsubscribed(removed: removed, count: count)
        case .subscriptions(let entries, let count, let cursor):
            .subscriptions(subscriptions[entries].map(line), count: count, more: cursor != nil)
        case .published: .published
        case .cleared(let cleared): .cleared(cleared == .status)
        case .states(let range): .queried(states(range))
        case .subscribers(let entries, let count, let cursor):
            .subscribers(subscribers[entries].map(line), count: count, more: cursor != nil)
        case .sessions(let entries, let messagesWaiting):
            .sessions(sessions[entries].map(line), messagesWaiting: messagesWaiting)
        case .kicked(let count): .kicked(count)
        case .related(let contact): .related(line(contacts[contact]))
        case .contacts(let entries, let count, let cursor):
            .contacts(contacts[entries].map(line), count: count, more: cursor != nil)
        case .visibilitySet(let visibility): .visibilitySet(visibility)
        case .availabilitySet: .availabilitySet
        case .shown: .shown
        case .lastSeen(let time): .lastSeen(time?.milliseconds)
        case .sent(let sent):
            .sent(
                recipients: sent.recipients, reached: sent.reached, passedOver: sent.passedOver)
        case .taken(let waiting): .taken(waiting: waiting)
        case .discarded(let count, let hasMore): .discarded(count, hasMore: hasMore)
        case .deviceSet(let device): .deviceSet(line(labelled[device]))
        case .devices(let range): .devices(labelled[range].map(line))
        case .done: .done
        }
    }

    private func line(_ entry: SubscriptionEntry) -> Line {
        Line(
            type: Int(entry.type.number), name: text(entry.publisher),
            created: entry.created.milliseconds, expires: entry.expires.milliseconds)
    }

    private func line(_ entry: SubscriberEntry) -> Line {
        Line(
            type: 0, name: text(entry.account), created: entry.created.milliseconds,
            expires: entry.expires?.milliseconds ?? 0)
    }

    private func line(_ entry: SessionEntry) -> SessionLine {
        SessionLine(
            device: text(entry.device), client: entry.client, connection: entry.connection,
            lastHeard: entry.lastHeard.milliseconds)
    }
}

/// Who sees whom, in a word.
func subscription(_ to: Bool, _ from: Bool) -> String {
    to && from ? "both" : to ? "to" : from ? "from" : "none"
}

/// An availability in words.
func inWords(_ availability: Availability) -> String {
    let text = availability.text.map { String(decoding: $0, as: UTF8.self) } ?? ""
    return "(\(availability.show) \(availability.priority) \(text))"
}
