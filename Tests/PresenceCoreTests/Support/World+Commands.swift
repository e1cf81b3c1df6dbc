import PresenceCore

// Commands as tests write them: by names, with what matters.
extension World {
    /// A new connection that logs in; what it sees of that is dropped.
    @discardableResult
    func login(
        _ account: String, _ device: String = "d1", _ client: ClientKind = .ios,
        reach: Reach = .connection, sync: LoginList = .online, hears: Leases = .timed,
        messages: Login.MessageDelivery = .off
    ) -> ConnectionID {
        let connection = connect()
        login(
            account, device, client, reach: reach, sync: sync, hears: hears, messages: messages,
            on: connection)
        return connection
    }

    func login(
        _ account: String, _ device: String = "d1", _ client: ClientKind = .ios,
        reach: Reach = .connection, sync: LoginList = .online, hears: Leases = .timed,
        messages: Login.MessageDelivery = .off, on connection: ConnectionID
    ) {
        let login = Login(
            account: Array(account.utf8), device: Array(device.utf8), client: client,
            reach: reach, sync: sync, hears: hears, address: Array("127.0.0.1:5".utf8),
            messages: messages)
        logIn(login, from: connection)
    }

    /// A login as those of XMPP clients are. Of the account's connections, the higher the slot, the
    /// longer it was not heard.
    func bind(_ account: String, _ resource: String, on connection: ConnectionID) {
        let login = Login(
            account: Array(account.utf8), device: Array(resource.utf8), client: .xmpp,
            sync: .none, hears: .approved, beginning: .hidden, address: Array("127.0.0.1:6".utf8))
        withEngine { engine in
            for other in engine.connections(of: login.account) {
                let heard = now.mono.milliseconds - UInt64(other.slot)
                engine.noteHeard(other, at: Mono(milliseconds: heard), now: now)
            }
        }
        logIn(login, from: connection)
    }

    func probe(_ connection: ConnectionID, _ contact: String) {
        handle(from: connection) { .probe($0.add(contact)) }
    }

    /// Presents the device to an account or, behind a slash, to a device of it.
    func direct(
        _ connection: ConnectionID, _ address: String, _ availability: Availability = .init()
    ) {
        direct(connection, address, presenting: .available(availability))
    }

    func withdraw(
        _ connection: ConnectionID, _ address: String, _ farewell: Availability = .init()
    ) {
        direct(connection, address, presenting: .unavailable(farewell: farewell))
    }

    private func direct(
        _ connection: ConnectionID, _ address: String, presenting presentation: Presentation
    ) {
        let parts = address.split(separator: "/", maxSplits: 1).map(String.init)
        handle(from: connection) { texts in
            .direct(
                Direct(
                    account: texts.add(parts[0]),
                    device: parts.count > 1 ? texts.add(parts[1]) : nil,
                    presentation: presentation))
        }
    }

    func appServer(_ rights: AppServerRights = .all) -> ConnectionID {
        let connection = connect()
        logInAppServer(rights, from: connection)
        _ = take(connection)
        return connection
    }

    func subscribe(
        _ connection: ConnectionID, _ publishers: [String], type: Int = 1, seconds: Int = 3_600,
        answer: SubscribeAnswer = .withoutStates, for account: String? = nil
    ) {
        handle(from: connection) { texts in
            .subscribe(
                account: texts.add(account),
                Subscribe(
                    type: EventType(number: UInt16(type)), expirySeconds: seconds,
                    publishers: texts.add(names: publishers), answer: answer))
        }
    }

    func unsubscribe(
        _ connection: ConnectionID, _ publishers: [String]?, type: Int = 1,
        for account: String? = nil
    ) {
        handle(from: connection) { texts in
            .unsubscribe(
                account: texts.add(account),
                Unsubscribe(
                    type: EventType(number: UInt16(type)),
                    publishers: publishers.map { texts.add(names: $0) }))
        }
    }

    func publish(
        _ connection: ConnectionID, _ value: Int32, type: Int = 1, seconds: Int = 3_600,
        ext: String? = nil, audience: Audience = .onlineOnly, own: OwnSessions = .included,
        for account: String? = nil
    ) {
        handle(from: connection) { texts in
            .publish(
                account: texts.add(account),
                Publish(
                    type: EventType(number: UInt16(type)), value: value, expirySeconds: seconds,
                    ext: texts.add(ext), audience: audience, ownSessions: own))
        }
    }

    func clear(_ connection: ConnectionID, type: Int = 1, for account: String? = nil) {
        handle(from: connection) { texts in
            .clear(account: texts.add(account), EventType(number: UInt16(type)))
        }
    }

    func relate(
        _ connection: ConnectionID, _ contact: String, _ action: ContactAction,
        for account: String? = nil
    ) {
        handle(from: connection) { texts in
            .relate(account: texts.add(account), contact: texts.add(contact), action)
        }
    }

    func say(
        _ connection: ConnectionID, _ word: RelationWord, to contact: String, text: String? = nil,
        for account: String? = nil
    ) {
        relate(connection, contact, .say(word, text: text.map { Array($0.utf8) }), for: account)
    }

    func contacts(
        _ connection: ConnectionID, entriesMax: Int = 100, for account: String? = nil
    ) {
        handle(from: connection) { texts in
            .contacts(account: texts.add(account), ListContacts(entriesMax: entriesMax))
        }
    }

    func setVisibility(
        _ connection: ConnectionID, _ visibility: Visibility?, for account: String? = nil
    ) {
        handle(from: connection) { texts in
            .setVisibility(account: texts.add(account), visibility)
        }
    }

    func send(
        _ connection: ConnectionID, to accounts: String..., body: String, device: String? = nil,
        seconds: Int = 3_600, for account: String? = nil
    ) {
        handle(from: connection) { texts in
            let names = texts.add(names: accounts)
            return .send(
                account: texts.add(account),
                Send(
                    to: texts.add(device).map { .device($0, of: names) } ?? .accounts(names),
                    body: texts.add(body), expirySeconds: seconds))
        }
    }

    /// A connection takes the last message that it was sent, and all before it.
    func takeLast(_ connection: ConnectionID) {
        guard let last = messages.handed[connection]?.last else { return }
        handle(.take(last), from: connection)
    }

    /// How many changes wait for the store.
    var waiting: Int { tickets.count }

    /// Whether what waits first for the store is a hand-over of messages.
    var isHandOverNext: Bool { tickets.first.map { messages.handOvers.contains($0) } ?? false }

    /// What is undelivered after a number, as a reader is told it.
    func undelivered(
        after number: UInt64 = 0, countMax: Int = 1_000, bytesMax: Int = .max
    ) -> UndeliveredShare {
        withEngine {
            $0.undelivered(after: number, countMax: countMax, bytesMax: bytesMax, at: now.mono)
        }
    }

    func discard(_ connection: ConnectionID, _ account: String?, from sender: String? = nil) {
        handle(from: connection) { texts in
            let account = account.map { texts.add($0) }
            return .discard(account: account, from: sender.map { texts.add($0) })
        }
    }

    func setDevice(
        _ connection: ConnectionID, alias: String? = nil, tags: [String]? = nil,
        pushAddress: String? = nil, device: String? = nil, for account: String? = nil
    ) {
        handle(from: connection) { texts in
            .setDevice(
                account: texts.add(account),
                SetDevice(
                    device: texts.add(device), alias: texts.add(alias),
                    tags: tags.map { texts.add(names: $0) }, pushAddress: texts.add(pushAddress)))
        }
    }

    /// Removes the push address of a device, if it still has it.
    func removeAddress(
        _ connection: ConnectionID, _ address: String, device: String, for account: String
    ) {
        handle(from: connection) { texts in
            .setDevice(
                account: texts.add(account),
                SetDevice(
                    device: texts.add(device), pushAddress: texts.add(""),
                    ifPushAddress: texts.add(address)))
        }
    }

    func listDevices(_ connection: ConnectionID, for account: String? = nil) {
        handle(from: connection) { .devices(account: $0.add(account)) }
    }

    func query(_ connection: ConnectionID, _ names: [String], type: Int = 1) {
        handle(from: connection) { texts in
            .query(EventType(number: UInt16(type)), accounts: texts.add(names: names))
        }
    }

    func kick(_ connection: ConnectionID, _ account: String, device: String? = nil) {
        handle(from: connection) { texts in
            .kick(Kick(account: texts.add(account), device: texts.add(device)))
        }
    }

    /// The events that `connection` has seen since it was last asked.
    func events(_ connection: ConnectionID) -> [State] {
        take(connection).compactMap { if case .event(let state) = $0 { state } else { nil } }
    }
}

extension State {
    /// `publisher value cause [devices]`, for tests that need no more.
    var short: String {
        "\(publisher) \(value) \(cause) \(online ?? [])"
    }
}

extension RequestTexts {
    mutating func add(_ text: String) -> ByteRange { add(Array(text.utf8)) }

    mutating func add(_ text: String?) -> ByteRange? { text.map { add($0) } }

    mutating func add(names: [String]) -> NameList { add(names: names.map { Array($0.utf8) }) }
}
