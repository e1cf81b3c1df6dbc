// The parameters of each method: which exist, and which are required.

internal import PresenceCore

extension RequestDecoder {
    /// Reads the parameters of a method.
    mutating func readParams(of method: MethodName) throws(Rejection) -> Method {
        switch method {
        case .login: .login(try readLogin())
        case .refresh: .refresh(RefreshRequest(token: try required(readText(.token), .token)))
        case .logout: .command(.logout)
        case .ping: .command(.ping)
        case .subscribe: .command(try readSubscribe())
        case .unsubscribe: .command(try readUnsubscribe())
        case .subscriptions: .command(try readSubscriptions())
        case .publish: .command(try readPublish())
        case .clear: .command(try readClear())
        case .relate: .command(try readRelate())
        case .contacts:
            .command(
                .contacts(
                    account: try readAccount(),
                    ListContacts(cursor: try readCursor(), entriesMax: try readEntriesMax())))
        case .setVisibility: .command(try readSetVisibility())
        case .setAvailability: .command(.setAvailability(try readAvailability()))
        case .send: .command(try readSend())
        case .take: .command(try readTake())
        case .discard: .command(try readDiscard())
        case .setDevice: .command(try readSetDevice())
        case .devices: .command(.devices(account: try readAccount()))
        case .query: .command(try readQuery())
        case .subscribers: .command(try readSubscribers())
        case .sessions: .command(.sessions(account: try required(readAccount(), .account)))
        case .kick: .command(try readKick())
        case .setPassword: .password(try readPasswordChange(isRemoval: false))
        case .removePassword: .password(try readPasswordChange(isRemoval: true))
        case .stats: .question(.stats)
        case .metrics: .question(.metrics)
        case .why: .question(.why(try readWhy()))
        case .top: .question(.top(try readTop()))
        case .feed: .feed(try readFeedBeginning())
        case .undelivered:
            .undelivered(try readText(.cursor).flatMap { FeedCursor(text, at: $0) })
        }
    }

    private func readLogin() throws(Rejection) -> LoginRequest {
        let client = try readWord(.client, vocabularies.clients)
        let credential = try readCredential(client: client)
        let device = try readName(.device, bytesMax: limits.deviceBytesMax)
        switch credential {
        case .token, .account, .password: _ = try required(device, .device)
        case .key, .appServer: break
        }
        return LoginRequest(
            credential: credential,
            device: device,
            client: client ?? .other,
            reach: try readFlag(.pushReachable) == true ? .push : .connection,
            sync: try readWord(.sync, vocabularies.loginLists) ?? .online,
            hears: try readFlag(.contacts) == true ? .all : .timed,
            messages: try readMessageDelivery())
    }

    /// Exactly one credential: with two, two parties might check different ones.
    private func readCredential(client: ClientKind?) throws(Rejection) -> Credential {
        let token = try readText(.token)
        let account = try readName(.account, bytesMax: limits.accountBytesMax)
        let key = try readText(.key)
        if let password = try readText(.password) {
            guard token == nil, key == nil else {
                throw Rejection(.duplicateField, field: .password)
            }
            return .password(account: try required(account, .account), password: password)
        }
        switch (token, account, key) {
        case (let token?, nil, nil): return .token(token)
        case (nil, let account?, nil): return .account(account)
        case (nil, nil, let key?): return .key(key)
        case (nil, nil, nil):
            guard client == .server else { throw Rejection(.missingField, field: .token) }
            return .appServer
        default:
            throw Rejection(.duplicateField, field: key == nil ? .account : .key)
        }
    }

    /// What may be a password is decided where it is prepared.
    private func readPasswordChange(isRemoval: Bool) throws(Rejection) -> PasswordChange {
        PasswordChange(
            account: try required(readAccount(), .account),
            password: isRemoval ? nil : try required(readText(.password), .password))
    }

    private mutating func readSubscribe() throws(Rejection) -> Command {
        .subscribe(
            account: try readAccount(),
            Subscribe(
                type: try required(readType(), .type),
                expirySeconds: try required(
                    readInteger(
                        .expiry, min: limits.subscriptionExpirySecondsMin,
                        max: limits.subscriptionExpirySecondsMax), .expiry),
                publishers: try required(readPublishers(), .publishers),
                answer: try readFlag(.sync) == true ? .withStates : .withoutStates))
    }

    private mutating func readUnsubscribe() throws(Rejection) -> Command {
        .unsubscribe(
            account: try readAccount(),
            Unsubscribe(
                type: try required(readType(), .type), publishers: try readPublishers()))
    }

    private mutating func readSubscriptions() throws(Rejection) -> Command {
        .subscriptions(
            account: try readAccount(),
            ListSubscriptions(
                type: try readType(), publishers: try readPublishers(), cursor: try readCursor(),
                entriesMax: try readEntriesMax()))
    }

    private func readPublish() throws(Rejection) -> Command {
        .publish(
            account: try readAccount(),
            Publish(
                type: try required(readType(), .type),
                value: try required(readValue(), .value),
                expirySeconds: try readInteger(
                    .expiry, min: limits.statusExpirySecondsMin,
                    max: limits.statusExpirySecondsMax) ?? limits.statusExpirySecondsDefault,
                ext: try readText(.ext, bytesMax: limits.extBytesMax),
                audience: try readFlag(.onlineOnly) == false ? .everybody : .onlineOnly,
                ownSessions: try readFlag(.sync) == false ? .excluded : .included))
    }

    private func readClear() throws(Rejection) -> Command {
        .clear(account: try readAccount(), try required(readType(), .type))
    }

    private mutating func readQuery() throws(Rejection) -> Command {
        .query(
            try required(readType(), .type),
            accounts: try required(
                readNames(.accounts, countMax: limits.accountsPerQueryMax), .accounts))
    }

    private func readSubscribers() throws(Rejection) -> Command {
        .subscribers(
            ListSubscribers(
                type: try required(readType(), .type),
                publisher: try required(
                    readName(.publisher, bytesMax: limits.accountBytesMax), .publisher),
                cursor: try readCursor(),
                entriesMax: try readEntriesMax()))
    }

    private func readKick() throws(Rejection) -> Command {
        .kick(
            Kick(
                account: try required(readAccount(), .account),
                device: try readName(.device, bytesMax: limits.deviceBytesMax),
                reason: try readText(.reason, bytesMax: limits.kickReasonBytesMax)))
    }

    private func readFeedBeginning() throws(Rejection) -> FeedBeginning {
        let cursor = try readText(.cursor)
        if let beginning = try readWord(.from, vocabularies.feedBeginnings) {
            guard cursor == nil else { throw Rejection(.duplicateField, field: .from) }
            return beginning
        }
        return cursor.flatMap { FeedCursor(text, at: $0) }.map { .after($0) } ?? .snapshot
    }

    private func readWhy() throws(Rejection) -> WhyRequest {
        WhyRequest(
            subscriber: try required(
                readName(.subscriber, bytesMax: limits.accountBytesMax), .subscriber),
            publisher: try required(
                readName(.publisher, bytesMax: limits.accountBytesMax), .publisher),
            type: try required(readType(), .type))
    }

    private func readTop() throws(Rejection) -> TopRequest {
        TopRequest(
            entriesMax: try readInteger(.limit, min: 1, max: TopRequest.entriesMaxMax)
                ?? TopRequest.entriesMaxDefault)
    }

    func readAccount() throws(Rejection) -> ByteRange? {
        try readName(.account, bytesMax: limits.accountBytesMax)
    }

    private mutating func readPublishers() throws(Rejection) -> NameList? {
        try readNames(.publishers, countMax: limits.publishersPerRequestMax)
    }

    private func readEntriesMax() throws(Rejection) -> Int {
        try readInteger(.limit, min: 1, max: limits.pageEntriesMax)
            ?? limits.pageEntriesDefault
    }
}
