public import PresenceCore

/// Whether a response fits into a frame.
public enum AnswerOutcome: Hashable, Sendable {
    /// It is in the buffer.
    case appended
    /// It exceeds a frame; the buffer is unchanged. This number of its entries would fit.
    case tooLarge(entriesFit: Int)
}

/// A measured number for the responses to `stats` and `top`.
public struct StatsField: Hashable, Sendable {
    /// The key. It needs no escapes.
    public var name: String
    /// The number.
    public var value: Int

    /// A number.
    public init(_ name: String, _ value: Int) {
        self.name = name
        self.value = value
    }
}

extension [UInt8] {
    /// Appends the response to a request; nothing if the request had no `id`.
    public mutating func appendAnswerBody(
        _ answer: Answer, to id: RequestID, in effects: borrowing Effects, settings: Settings
    ) -> AnswerOutcome {
        guard id != .none else { return .appended }
        let start = count
        beginResponse(to: id)
        let bound = start + settings.limits.serverFrameBytesMax
        let endBytes = id.endBytesMax
        if let fit = appendResult(answer, in: effects, settings, upTo: bound - 63 - endBytes) {
            removeLast(count - start)
            return .tooLarge(entriesFit: fit)
        }
        endResponse(to: id)
        return .appended
    }

    /// Appends the `result` of a response, of any size.
    public mutating func appendAnswerResult(
        _ answer: Answer, in effects: borrowing Effects, settings: Settings
    ) {
        let fit = appendResult(answer, in: effects, settings, upTo: .max)
        precondition(fit == nil, "a result that exceeds no bound")
    }

    mutating func beginResponse(to id: RequestID) {
        append(#"{"jsonrpc":"2.0","id":"#)
        append(id)
        append(#","result":"#)
    }

    /// Appends the result, or returns the number of entries that end before `bound`.
    ///
    /// The 64 bytes after `bound` are reserved for what follows the entries.
    private mutating func appendResult(
        _ answer: Answer, in effects: borrowing Effects, _ settings: Settings, upTo bound: Int
    ) -> Int? {
        switch answer {
        case .loggedIn(let login):
            appendResult(login, EventSource(effects), settings)
        case .loggedInAppServer(let session, let time): appendLogin(session, time, settings)
        case .refreshed(let term):
            append(#"{"expires":"#, term.expires)
            append("}")
        case .loggedOut:
            append("{}")
        case .pong(let time):
            append(#"{"time":"#, time)
            append("}")
        case .unsubscribed(let removed, let count):
            appendUnsubscribed(removed, count)
        case .published(let seq, let time, let expires):
            appendPublished(seq, time, expires)
        case .cleared(let what):
            append(what == .status ? #"{"cleared":true}"# : #"{"cleared":false}"#)
        case .kicked(let count): appendCount(#"{"kicked":"#, count)
        case .subscribed(let expires, let count, let states):
            append(#"{"expires":"#, expires)
            append(#","count":"#, count)
            if let states {
                append(#","states":"#)
                if let fit = appendList(effects.events[states], effects, bound) { return fit }
            }
            append("}")
        case .sent(let sent): appendResult(sent)
        case .taken(let waiting): appendCount(#"{"waiting":"#, waiting)
        case .discarded(let count, let hasMore): appendDiscarded(count, hasMore: hasMore)
        case .deviceSet(let device):
            appendDevice(effects.labelled[device], EventSource(effects), settings)
        case .devices(let range):
            append(#"{"devices":"#)
            if let fit = appendList(effects.labelled[range], effects, bound) { return fit }
            append("}")
        case .states(let states):
            append(#"{"states":"#)
            if let fit = appendList(effects.events[states], effects, bound) { return fit }
            append("}")
        case .subscriptions(let range, let count, let cursor):
            append(#"{"subscriptions":"#)
            if let fit = appendList(effects.subscriptions[range], effects, bound) { return fit }
            appendPageEnd(count: count, cursor: cursor)
        case .subscribers(let range, let count, let cursor):
            append(#"{"subscribers":"#)
            if let fit = appendList(effects.subscribers[range], effects, bound) { return fit }
            appendPageEnd(count: count, cursor: cursor)
        case .sessions(let entries, let messagesWaiting):
            append(#"{"sessions":"#)
            if let fit = appendList(effects.sessions[entries], effects, bound) { return fit }
            if let messagesWaiting { append(#","messagesWaiting":"#, messagesWaiting) }
            append("}")
        case .related(let contact):
            appendRelated(effects.contacts[contact], EventSource(effects))
        case .contacts(let range, let count, let cursor):
            append(#"{"contacts":"#)
            if let fit = appendList(effects.contacts[range], effects, bound) { return fit }
            appendPageEnd(count: count, cursor: cursor)
        case .visibilitySet(let visibility):
            append(#"{"visibility":""#)
            append(visibility.word)
            append(#""}"#)
        case .availabilitySet, .shown, .lastSeen, .done:
            append("{}")
        }
        return nil
    }

    private mutating func appendLogin(_ session: SessionID, _ time: Wall, _ settings: Settings) {
        append(#"{"session":"#)
        appendBase32(session.ordinal)
        append(#","time":"#, time)
        appendSettings(
            settings, accountsPerSendMax: settings.limits.accountsPerSendOfAppServersMax)
    }

    private mutating func appendRelated(
        _ contact: ContactEntry, _ source: borrowing EventSource
    ) {
        append(#"{"contact":"#)
        appendContact(contact, source)
        append("}")
    }

    private mutating func appendDevice(
        _ device: LabelledEntry, _ source: borrowing EventSource, _ settings: Settings
    ) {
        append(#"{"device":"#)
        device.append(to: &self, source)
        if !device.labels.pushAddress.isEmpty {
            appendPushable(device.labels.pushAddress, settings.push)
        }
        append("}")
    }

    /// Whether the service pushes to an address by itself.
    private mutating func appendPushable(_ address: [UInt8], _ offer: PushOffer?) {
        let rejection = offer.map { $0.rejection(of: address) } ?? .noPushKey
        guard let rejection else { return append(#","pushable":true"#) }
        append(#","pushable":false,"pushReason":""#)
        append(contentsOf: rejection.rawValue.utf8)
        append("\"")
    }

    private mutating func appendCount(_ beginning: StaticString, _ count: Int) {
        append(beginning, count)
        append("}")
    }

    private mutating func appendDiscarded(_ count: Int, hasMore: Bool?) {
        append(#"{"discarded":"#, count)
        if let hasMore { append(hasMore ? #","more":true"# : #","more":false"#) }
        append("}")
    }

    private mutating func appendUnsubscribed(_ removed: Int, _ count: Int) {
        append(#"{"removed":"#, removed)
        append(#","count":"#, count)
        append("}")
    }

    private mutating func appendPublished(_ seq: UInt64, _ time: Wall, _ expires: Wall) {
        append(#"{"id":"#)
        appendBase32(seq)
        append(#","seq":"#)
        append(bytesMax: 20) { $0.unsigned(seq) }
        append(#","time":"#, time)
        append(#","expires":"#, expires)
        append("}")
    }

    private mutating func appendResult(
        _ login: LoggedIn, _ source: borrowing EventSource, _ settings: Settings
    ) {
        append(#"{"account":"#)
        appendString(login.account, source)
        append(#","session":"#)
        appendBase32(login.session.ordinal)
        append(#","time":"#, login.time)
        append(#","subscriptions":"#, login.subscriptions)
        if let waiting = login.waiting { append(#","waiting":"#, waiting) }
        if let term = login.term { append(#","expires":"#, term.expires) }
        appendSettings(settings, accountsPerSendMax: settings.limits.accountsPerSendMax)
    }

    /// Appends the settings that clients need, and ends the object.
    private mutating func appendSettings(_ settings: Settings, accountsPerSendMax: Int) {
        let limits = settings.limits
        append(#","heartbeat":"#, settings.heartbeatSeconds)
        append(#","restartGraceSeconds":"#, settings.restartGraceSeconds)
        if let key = settings.push?.key { appendText(#","pushKey":"#, Array(key.utf8)) }
        append(#","limits":{"accountBytesMax":"#, limits.accountBytesMax)
        append(#","deviceBytesMax":"#, limits.deviceBytesMax)
        append(#","extBytesMax":"#, limits.extBytesMax)
        append(#","kickReasonBytesMax":"#, limits.kickReasonBytesMax)
        append(#","publishersPerRequestMax":"#, limits.publishersPerRequestMax)
        append(#","accountsPerQueryMax":"#, limits.accountsPerQueryMax)
        append(#","subscriptionsPerAccountMax":"#, limits.subscriptionsPerAccountMax)
        append(#","sessionsPerAccountMax":"#, limits.sessionsPerAccountMax)
        append(#","statusesPerAccountMax":"#, limits.statusesPerAccountMax)
        append(#","contactsPerAccountMax":"#, limits.contactsPerAccountMax)
        append(#","requestsPerAccountMax":"#, limits.requestsPerAccountMax)
        append(#","requestTextBytesMax":"#, limits.requestTextBytesMax)
        append(#","availabilityTextBytesMax":"#, limits.availabilityTextBytesMax)
        append(#","messageBytesMax":"#, limits.messageBytesMax)
        append(#","messageExpirySecondsMin":"#, limits.messageExpirySecondsMin)
        append(#","messageExpirySecondsMax":"#, limits.messageExpirySecondsMax)
        append(#","messageExpirySecondsDefault":"#, limits.messageExpirySecondsDefault)
        append(#","refBytesMax":"#, limits.refBytesMax)
        append(#","accountsPerSendMax":"#, accountsPerSendMax)
        append(#","pushAddressBytesMax":"#, Limits.pushAddressBytesMax)
        append(#","pageEntriesMax":"#, limits.pageEntriesMax)
        append(#","pageEntriesDefault":"#, limits.pageEntriesDefault)
        append(#","subscriptionExpirySecondsMin":"#, limits.subscriptionExpirySecondsMin)
        append(#","subscriptionExpirySecondsMax":"#, limits.subscriptionExpirySecondsMax)
        append(#","statusExpirySecondsMin":"#, limits.statusExpirySecondsMin)
        append(#","statusExpirySecondsMax":"#, limits.statusExpirySecondsMax)
        append(#","statusExpirySecondsDefault":"#, limits.statusExpirySecondsDefault)
        append(#","customTypeMin":"#, limits.customTypeMin)
        append(#","customTypeMax":"#, limits.customTypeMax)
        append(#","customValueMin":"#, limits.customValueMin)
        append(#","customValueMax":"#, limits.customValueMax)
        append(#","frameBytesMax":"#, limits.frameBytesMax)
        append(#","frameBytesBeforeLoginMax":"#, limits.frameBytesBeforeLoginMax)
        append(#","serverFrameBytesMax":"#, limits.serverFrameBytesMax)
        append(#","requestIDBytesMax":"#, limits.requestIDBytesMax)
        append("}}")
    }
}
