import PresenceCore

// Commands as tests write them: by names, with what matters.
extension World {
    /// A new connection that logs in; what it sees of that is dropped.
    @discardableResult
    func login(
        _ account: String, _ device: String = "d1", _ client: ClientKind = .ios,
        reach: Reach = .connection, sync: LoginList = .online
    ) -> ConnectionID {
        let connection = connect()
        login(account, device, client, reach: reach, sync: sync, on: connection)
        return connection
    }

    func login(
        _ account: String, _ device: String = "d1", _ client: ClientKind = .ios,
        reach: Reach = .connection, sync: LoginList = .online, on connection: ConnectionID
    ) {
        let login = Login(
            account: self.account(account), device: Array(device.utf8), client: client,
            reach: reach, sync: sync, address: Array("127.0.0.1:5".utf8))
        handle(.login(login), from: connection)
    }

    func appServer() -> ConnectionID {
        let connection = connect()
        handle(.loginAppServer, from: connection)
        _ = take(connection)
        return connection
    }

    func subscribe(
        _ connection: ConnectionID, _ publishers: [String], type: Int = 1, seconds: Int = 3_600,
        answer: SubscribeAnswer = .withoutStates, for account: String? = nil
    ) {
        let request = Subscribe(
            account: account.map { self.account($0) },
            type: EventType(number: UInt16(type)), expirySeconds: seconds,
            publishers: publishers.map { self.account($0) }, answer: answer)
        handle(.subscribe(request), from: connection)
    }

    func unsubscribe(
        _ connection: ConnectionID, _ publishers: [String]?, type: Int = 1,
        for account: String? = nil
    ) {
        let request = Unsubscribe(
            account: account.map { self.account($0) },
            type: EventType(number: UInt16(type)),
            publishers: publishers.map { $0.map { self.account($0) } })
        handle(.unsubscribe(request), from: connection)
    }

    func publish(
        _ connection: ConnectionID, _ value: Int32, type: Int = 1, seconds: Int = 3_600,
        ext: String? = nil, audience: Audience = .onlineOnly, own: OwnSessions = .told,
        for account: String? = nil
    ) {
        let request = Publish(
            account: account.map { self.account($0) },
            type: EventType(number: UInt16(type)), value: value, expirySeconds: seconds,
            ext: ext.map { Array($0.utf8) }, audience: audience, ownSessions: own)
        handle(.publish(request), from: connection)
    }

    func clear(_ connection: ConnectionID, type: Int = 1, for account: String? = nil) {
        handle(
            .clear(
                account: account.map { self.account($0) },
                type: EventType(number: UInt16(type))),
            from: connection)
    }

    func query(_ connection: ConnectionID, _ names: [String], type: Int = 1) {
        let accounts = names.map { name in
            find(name).map { QueriedAccount.known($0) } ?? .unknown(name: Array(name.utf8))
        }
        handle(
            .query(type: EventType(number: UInt16(type)), accounts: accounts), from: connection)
    }

    func kick(_ connection: ConnectionID, _ account: String, device: String? = nil) {
        handle(
            .kick(
                Kick(
                    account: find(account), device: device.map { Array($0.utf8) }, reason: nil)),
            from: connection)
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
