import Containers
import Passwords
import PresenceCore
import PresenceWire
import PresenceXMPP

// XMPP connections: their logins, in two steps, and what they are sent.

/// The account that an XMPP client says to be, and how it is to prove that.
struct XMPPAuthentication: Sendable {
    var connection: ConnectionID
    var account: [UInt8]
    var proof: Proof
    var origin: ConnectionOrigin

    enum Proof: Sendable {
        /// By this token or password, which it has sent.
        case secret([UInt8])
        /// By SCRAM, for which it is sent a challenge.
        case challenge
        /// By SCRAM, whose last message it has sent.
        case scram(ScramHash, isRight: Bool)
    }
}

/// A stanza of one XMPP client for another.
struct RelayedStanza: Sendable {
    /// The connection of the sender, which waits until it is known whether the device is online.
    var connection: ConnectionID
    var account: [UInt8]
    /// Nil: all devices that are available with a priority of 0 or more.
    var device: [UInt8]?
    /// Whether it is for those also if the device is not connected.
    var isForAnyDevice: Bool
    /// Copies of a message for other clients; nil if it is not copied.
    var copies: RelayedCopies?
    /// The id of the iq; empty: it has none.
    var id: [UInt8]
    var kind: RelayedKind
    /// As the receiver is sent it, whatever its domain is.
    var stanza: StanzaTemplate
}

/// A message for one client of its recipient that is stored, of which the other ones are sent
/// copies (XEP-0280).
struct CopiedMessage: Sendable {
    /// The connection of the sender.
    var connection: ConnectionID
    /// The recipient.
    var account: [UInt8]
    /// The device that it is addressed to.
    var device: [UInt8]
    /// The account that has sent it.
    var sender: [UInt8]
    var received: StanzaTemplate
}

/// A message as copies (XEP-0280).
struct RelayedCopies: Sendable {
    var sender: [UInt8]
    /// For other clients of the sender.
    var sent = StanzaTemplate()
    /// For those of the recipient that are not handed it.
    var received = StanzaTemplate()
}

/// An event of a large fan-out in progress, encoded.
struct KeptEvent: Sendable {
    var body: [UInt8]
    /// As stanzas; nil: there was no XMPP client.
    var stanzas: StanzaTemplate?
}

extension EngineHost {
    /// Has an XMPP client prove that it is an account. It begins no session: that is `bind`.
    mutating func authenticate(_ login: XMPPAuthentication, at now: Moment) throws(Rejection) {
        try checkServing()
        if case .scram(let hash, let isRight) = login.proof {
            // As those of a password: a proof costs nothing to check, and says as much.
            try answerGuess(isRight, from: login.origin, at: now.mono)
            return authenticated(login.connection, as: login.account, .proof(hash), at: now.mono)
        }
        if let pace = configuration.engine.loginPace,
            let wait = authentications.wait(of: login.account, pace, at: now.mono)
        {
            throw .tooOften(waitMilliseconds: wait)
        }
        let purpose = TokenRequest.Purpose.authentication(account: login.account)
        let goal: PasswordTask.Goal
        switch login.proof {
        case .challenge, .scram: goal = .challenge
        case .secret where configuration.access == .open:
            return authenticated(login.connection, as: login.account, .claimed, at: now.mono)
        case .secret(let secret):
            guard isPassword(secret) else {
                passwords.proofs.end(login.connection)
                return try verify(
                    secret, for: purpose, of: login.connection, from: login.origin, at: now)
            }
            goal = .logIn(typed: secret, purpose)
        }
        try begin(
            PasswordTask(
                connection: login.connection, account: login.account, origin: login.origin,
                goal: goal),
            as: .login, at: now)
    }

    /// An XMPP client has authenticated, and its negotiation continues.
    mutating func authenticated(
        _ connection: ConnectionID, as account: [UInt8], _ answer: CredentialAnswer, at now: Mono
    ) {
        noteAuthenticated(account, at: now)
        output.append(.credentials(answer), for: connection)
    }

    /// Counts an authentication: its client may never bind, which the engine would count as a
    /// login. Only a client that succeeds is counted, so no client uses up the rate of
    /// another account.
    mutating func noteAuthenticated(_ account: [UInt8], at now: Mono) {
        guard let pace = configuration.engine.loginPace else { return }
        // What is taken in advance is owed for a minute at most.
        authentications.charge(account, pace, at: now, waitMillisecondsMax: 60_000)
    }

    /// Whether what a client has sent is taken for a password, not for a token. Tokens begin with
    /// the base64 of `{"` and have two dots.
    private func isPassword(_ secret: [UInt8]) -> Bool {
        switch configuration.passwords {
        case .none: false
        case .only: true
        case .besideTokens:
            !(secret.starts(with: "ey".utf8) && secret.count { $0 == UInt8(ascii: ".") } == 2)
        }
    }

    /// Registers an account for a client that has not logged in, or changes the password of the
    /// account of one that has.
    mutating func changePassword(_ task: PasswordTask, at now: Moment) throws(Rejection) {
        precondition(task.goal.isChange, "a task that changes no password")
        let isRegistration = if case .register = task.goal { true } else { false }
        // The session of the client may have been ended meanwhile.
        if !isRegistration { try engine.authorise(.setAvailability, from: task.connection) }
        try checkServing()
        // Deriving keys costs more than anything else that a client can ask for.
        let pace = configuration.admission.registrationPace
        if let wait = passwords.register(from: task.origin.network, pace, at: now.mono) {
            throw .tooOften(waitMilliseconds: wait)
        }
        try begin(task, as: .setPassword, at: now)
    }

    /// Begins the session of an XMPP client that is authenticated.
    mutating func bind(
        _ login: Login, of connection: ConnectionID, at now: Moment
    ) throws(Rejection) {
        try engine.authorise(.login, from: connection)
        guard !passwords.proofs.isVoid(connection) else {
            throw Rejection(CredentialError.password)
        }
        try checkServing()
        try checkRoom(for: .login, at: now)
        try checkMemory(for: login, at: now)
        guard admitLogin(of: connection, at: now) else { return }
        output.stanzaReceivers.insert(connection.slot)
        for other in engine.connections(of: login.account) {
            engine.noteHeard(other, at: heardTime(of: other), now: now)
        }
        engine.logIn(login, from: connection, at: now, into: &output.shared.effects)
        // It may have been rejected, and be asked for again.
        if engine.rejection(of: .ping, from: connection) == nil { passwords.proofs.end(connection) }
    }

    /// Hands an iq to the device that it is for, unless that has been sent too many or is on a loop
    /// that is stalled. What it has asked for it is sent in any case.
    mutating func relay(_ stanza: RelayedStanza, at now: Moment) throws(Rejection) {
        let sender = stanza.connection
        guard let device = stanza.device else { return try relayToAll(stanza, at: now) }
        let target: RelayTarget
        do throws(Rejection) {
            target = try engine.relayTarget(
                of: stanza.account, device: device, stanza.kind, from: sender)
        } catch {
            guard stanza.isForAnyDevice else { throw error }
            return try relayToAll(stanza, at: now)
        }
        let receiver = target.connection
        guard stanza.kind != .message || !target.isBehind else {
            throw .tooOften(waitMilliseconds: Self.behindMilliseconds)
        }
        let isAsked =
            stanza.kind == .answer && relayedRequests.take(stanza.id, from: receiver, to: sender)
        if !isAsked,
            let wait = relayed.take(
                for: receiver.slot, of: target.sender, isContact: target.isOfContact, at: now.mono)
        {
            throw .tooOften(waitMilliseconds: wait)
        }
        if stanza.kind == .question { relayedRequests.add(stanza.id, from: sender, to: receiver) }
        output.shared.effects.answer(sender, .done)
        relayCopies(of: stanza, handedTo: [receiver])
        guard !stalledLoops.contains(loops.loop(of: receiver.slot)) else { return }
        output.append(.relay(output.shared.add(stanza.stanza)), for: receiver)
    }

    /// For how long to wait before a message that is not stored, for a device to which stored ones
    /// must be sent first.
    private static var behindMilliseconds: UInt64 { 1_000 }

    /// Hands a message that is not stored to the devices of an account that keep up and have not
    /// been sent too many.
    private mutating func relayToAll(_ stanza: RelayedStanza, at now: Moment) throws(Rejection) {
        let targets = try engine.relayTargets(of: stanza.account, from: stanza.connection)
        output.shared.effects.answer(stanza.connection, .done)
        relayCopies(of: stanza, handedTo: targets.map(\.connection))
        guard !targets.isEmpty else { return }
        let shared = output.shared.add(stanza.stanza)
        for target in targets where !target.isBehind {
            let receiver = target.connection
            guard
                relayed.take(
                    for: receiver.slot, of: target.sender, isContact: target.isOfContact,
                    at: now.mono) == nil,
                !stalledLoops.contains(loops.loop(of: receiver.slot))
            else { continue }
            output.append(.relay(shared), for: receiver)
        }
    }

    /// Hands copies of a message to other clients of its sender, and to those of its recipient that
    /// are not handed it.
    private mutating func relayCopies(of stanza: RelayedStanza, handedTo receivers: [ConnectionID])
    {
        guard let copies = stanza.copies else { return }
        hand(copies.sent, toClientsOf: copies.sender, except: [stanza.connection] + receivers)
        // Of what an account sends itself, one copy is enough.
        guard copies.sender != stanza.account else { return }
        hand(copies.received, toClientsOf: stanza.account, except: receivers)
    }

    /// Hands copies of a message that is stored to the clients of its recipient that it is not for,
    /// while the one is connected. Of what an account sends itself, one copy is enough.
    mutating func copy(_ message: CopiedMessage) {
        guard message.sender != message.account,
            let target = try? engine.relayTarget(
                of: message.account, device: message.device, .message, from: message.connection)
        else { return }
        hand(message.received, toClientsOf: message.account, except: [target.connection])
    }

    /// Hands a copy of a message to the XMPP clients of an account that want copies.
    private mutating func hand(
        _ copy: StanzaTemplate, toClientsOf account: [UInt8], except others: [ConnectionID]
    ) {
        let receivers = engine.connections(of: account).filter { connection in
            output.stanzaReceivers.contains(connection.slot) && !others.contains(connection)
                && engine.isSentCopies(connection)
                && !stalledLoops.contains(loops.loop(of: connection.slot))
        }
        guard !receivers.isEmpty else { return }
        let shared = output.shared.add(copy)
        for receiver in receivers { output.append(.relay(shared), for: receiver) }
    }

    /// Hands an event to those of its receivers that are XMPP clients.
    mutating func deliverStanzas(
        _ stanzas: BatchIndex<Stanzas>?, _ seq: UInt64, of topic: TopicHandle,
        to receivers: Range<Int>
    ) {
        guard let stanzas else { return }
        output.append(
            .deliverStanzas(seq: seq, stanzas, topic), to: receivers, omitting: stalledLoops)
    }

    /// Hands an event of a large fan-out to XMPP clients. Clients that have logged in since have
    /// missed it if it was not encoded for them: they are sent the newest state.
    mutating func deliver(
        _ event: KeptEvent, _ seq: UInt64, _ topic: TopicHandle, toXMPP receivers: Range<Int>,
        at now: Wall
    ) {
        if let stanzas = event.stanzas {
            guard !stanzas.isEmpty else { return }
            return deliverStanzas(output.shared.add(stanzas), seq, of: topic, to: receivers)
        }
        for place in receivers {
            let slot = output.shared.effects.receivers[place]
            guard let connection = engine.connection(inSlot: slot) else { continue }
            engine.missed(topic, seq: seq, by: connection, at: now)
            output.append(.missed, for: connection)
        }
    }
}

/// The slots of connections of one kind.
struct SlotSet: Sendable {
    private var words: [UInt64] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    func contains(_ slot: UInt32) -> Bool {
        let word = Int(slot >> 6)
        return word < words.count && words[word] & 1 << UInt64(slot & 63) != 0
    }

    /// Moves the members among some of `slots` to their beginning. Returns where the others begin.
    func moveMembers(toStartOf range: Range<Int>, in slots: inout [UInt32]) -> Int {
        var slots = slots.mutableSpan
        var others = range.lowerBound
        for place in range where contains(slots[place]) {
            if others < place { slots.swapAt(others, place) }
            others += 1
        }
        return others
    }

    mutating func insert(_ slot: UInt32) {
        guard !contains(slot) else { return }
        let word = Int(slot >> 6)
        if word >= words.count {
            words.append(contentsOf: repeatElement(0, count: word - words.count + 1))
        }
        words[word] |= 1 << UInt64(slot & 63)
        count += 1
    }

    mutating func remove(_ slot: UInt32) {
        guard contains(slot) else { return }
        words[Int(slot >> 6)] &= ~(1 << UInt64(slot & 63))
        count -= 1
    }
}
