import PresenceWire
import Testing

@testable import PresenceCore

@Suite struct AnswerEncodingTests {
    private static let limits = limits(accountsPerSendMax: 10)

    private static func limits(accountsPerSendMax: Int) -> String {
        #""heartbeat":30,"restartGraceSeconds":30,"limits":{"accountBytesMax":128,"#
            + #""deviceBytesMax":64,"extBytesMax":4096,"#
            + #""kickReasonBytesMax":256,"publishersPerRequestMax":100,"accountsPerQueryMax":500,"#
            + #""subscriptionsPerAccountMax":3000,"sessionsPerAccountMax":10,"#
            + #""statusesPerAccountMax":100,"contactsPerAccountMax":1000,"#
            + #""requestsPerAccountMax":200,"#
            + #""requestTextBytesMax":512,"availabilityTextBytesMax":1024,"#
            + #""messageBytesMax":131072,"messageExpirySecondsMin":60,"#
            + #""messageExpirySecondsMax":2592000,"messageExpirySecondsDefault":604800,"#
            + #""refBytesMax":64,"accountsPerSendMax":\#(accountsPerSendMax),"#
            + #""pushAddressBytesMax":2048,"#
            + #""pageEntriesMax":1000,"pageEntriesDefault":100,"subscriptionExpirySecondsMin":60,"#
            + #""subscriptionExpirySecondsMax":2592000,"statusExpirySecondsMin":60,"#
            + #""statusExpirySecondsMax":604800,"statusExpirySecondsDefault":604800,"#
            + #""customTypeMin":100,"customTypeMax":65535,"customValueMin":10000,"#
            + #""customValueMax":2147483647,"frameBytesMax":262144,"#
            + #""frameBytesBeforeLoginMax":16384,"#
            + #""serverFrameBytesMax":1048576,"requestIDBytesMax":128}}"#
    }

    private static let state =
        #"{"type":1,"publisher":"p","value":0,"cause":"sync","id":"0000000000000","#
        + #""seq":0,"time":0}"#

    private func result(
        _ answer: Answer, _ effects: Effects = Effects(), id: RequestID = .integer(1)
    ) -> String? {
        body {
            let outcome = $0.appendAnswerBody(answer, to: id, in: effects, settings: Settings())
            #expect(outcome == .appended)
        }
    }

    @Test func `says which key pages subscribe to pushes with`() throws {
        var settings = Settings()
        settings.push = PushOffer(key: "BM8s-_A", hosts: "a")
        let login = Answer.loggedInAppServer(SessionID(ordinal: 33), time: Self.time)
        let text = try #require(
            body {
                _ = $0.appendAnswerBody(login, to: .integer(1), in: Effects(), settings: settings)
            })
        #expect(text.contains(#""restartGraceSeconds":30,"pushKey":"BM8s-_A","limits":{"#))
    }

    private func expected(_ result: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"result":\#(result)}"#
    }

    private static let time = Wall(milliseconds: 1_763_700_000_000)
    private static let later = Wall(milliseconds: 1_763_700_060_000)

    @Test(
        arguments: [
            (
                .refreshed(TokenTerm(expires: later, honouredUntil: time)),
                #"{"expires":1763700060000}"#
            ),
            (.loggedOut, "{}"), (.pong(time: time), #"{"time":1763700000000}"#),
            (
                .loggedInAppServer(SessionID(ordinal: 33), time: time),
                #"{"session":"0000000000011","time":1763700000000,"#
                    + limits(accountsPerSendMax: 100)
            ),
            (
                .subscribed(expires: later, count: 3, states: nil),
                #"{"expires":1763700060000,"count":3}"#
            ),
            (
                .subscribed(expires: later, count: 0, states: 0..<0),
                #"{"expires":1763700060000,"count":0,"states":[]}"#
            ),
            (.unsubscribed(removed: 2, count: 1), #"{"removed":2,"count":1}"#),
            (
                .published(seq: 7, time: time, expires: later),
                #"{"id":"0000000000007","seq":7,"time":1763700000000,"expires":1763700060000}"#
            ),
            (.cleared(.status), #"{"cleared":true}"#), (.cleared(.nothing), #"{"cleared":false}"#),
            (.kicked(4), #"{"kicked":4}"#),
            (
                .subscriptions(entries: 0..<0, count: 0, cursor: nil),
                #"{"subscriptions":[],"count":0}"#
            ),
            (
                .subscribers(entries: 0..<0, count: 9, cursor: .max),
                #"{"subscribers":[],"count":9,"cursor":"FZZZZZZZZZZZZ"}"#
            ),
            (.sessions(entries: 0..<0, messagesWaiting: nil), #"{"sessions":[]}"#),
            (
                .sessions(entries: 0..<0, messagesWaiting: 7),
                #"{"sessions":[],"messagesWaiting":7}"#
            ),
            (.states(0..<0), #"{"states":[]}"#),
        ] as [(Answer, String)])
    func `answers that stand for themselves`(answer: Answer, json: String) {
        #expect(result(answer) == expected(json))
    }

    @Test func `a login`() {
        var fixture = Fixture()
        let login = LoggedIn(
            account: fixture.text("a\"b"), session: SessionID(ordinal: 32), time: Self.time,
            subscriptions: 5)
        let json =
            #"{"account":"a\"b","session":"0000000000010","time":1763700000000,"#
            + #""subscriptions":5,"# + Self.limits
        #expect(result(.loggedIn(login), fixture.effects) == expected(json))
    }

    @Test func `a login by token`() {
        var fixture = Fixture()
        let login = LoggedIn(
            account: fixture.text("a"), session: SessionID(ordinal: 32), time: Self.time,
            subscriptions: 5, term: TokenTerm(expires: Self.later, honouredUntil: Self.time),
            waiting: 3)
        let json =
            #"{"account":"a","session":"0000000000010","time":1763700000000,"#
            + #""subscriptions":5,"waiting":3,"expires":1763700060000,"# + Self.limits
        #expect(result(.loggedIn(login), fixture.effects) == expected(json))
    }

    @Test func `states`() {
        var fixture = Fixture()
        let event = fixture.event("p")
        fixture.effects.events = [event, event, event]
        let two = Self.state + "," + Self.state
        #expect(result(.states(1..<3), fixture.effects) == expected(#"{"states":[\#(two)]}"#))
        let subscribed = Answer.subscribed(expires: Self.later, count: 2, states: 0..<2)
        let json = #"{"expires":1763700060000,"count":2,"states":[\#(two)]}"#
        #expect(result(subscribed, fixture.effects) == expected(json))
    }

    @Test func `pages`() {
        var fixture = Fixture()
        let name = fixture.text("bob")
        let entry = SubscriptionEntry(
            type: .presence, publisher: name, created: Self.time, expires: Self.later)
        fixture.effects.subscriptions = [entry, entry]
        let line = #"{"type":1,"publisher":"bob","created":1763700000000,"expires":1763700060000}"#
        let page = Answer.subscriptions(entries: 0..<2, count: 8, cursor: 1)
        #expect(
            result(page, fixture.effects)
                == expected(
                    #"{"subscriptions":[\#(line),\#(line)],"count":8,"cursor":"0000000000001"}"#))
        fixture.effects.subscribers = [
            SubscriberEntry(
                account: name, created: Self.time, expires: Self.later, isApproved: false)
        ]
        let watcher = #"{"account":"bob","created":1763700000000,"expires":1763700060000}"#
        let watchers = Answer.subscribers(entries: 0..<1, count: 1, cursor: nil)
        #expect(
            result(watchers, fixture.effects)
                == expected(#"{"subscribers":[\#(watcher)],"count":1}"#))
    }

    @Test(
        arguments: [
            (.connected, "connected\""), (.inGrace, "grace\""), (.pushOnly, "push\",\"push\":true"),
            (.awaitingReturn, "restart\""),
        ] as [(SessionEntry.Connectedness, String)])
    func `sessions`(connection: SessionEntry.Connectedness, word: String) {
        var fixture = Fixture()
        let device = fixture.text("d")
        let address = fixture.text("::1")
        fixture.effects.sessions = [
            SessionEntry(
                session: SessionID(ordinal: 1), device: device, client: .web, since: Self.time,
                lastHeard: Self.later, address: address, connection: connection)
        ]
        let line =
            #"{"session":"0000000000001","device":"d","client":"web","since":1763700000000,"#
            + #""lastHeard":1763700060000,"address":"::1","connection":"\#(word)}"#
        let answer = Answer.sessions(entries: 0..<1, messagesWaiting: nil)
        #expect(result(answer, fixture.effects) == expected(#"{"sessions":[\#(line)]}"#))
    }

    @Test func `counters, in their order`() {
        let fields = [StatsField("connections", 3), StatsField("outboxBytes", -15)]
        let text = response(to: .integer(1), .stats(fields))
        #expect(text == expected(#"{"connections":3,"outboxBytes":-15}"#))
        #expect(response(to: .integer(1), .stats([])) == expected("{}"))
    }

    @Test func `a text`() {
        let text = response(to: .integer(1), .metrics(Array("a{b=\"c\"} 1\n".utf8)))
        #expect(text == expected(#"{"text":"a{b=\"c\"} 1\n"}"#))
    }

    @Test(arguments: [true, false])
    func `a change of a password`(hadPassword: Bool) {
        let set = response(to: .integer(1), .passwordSet(replaced: hadPassword))
        #expect(set == expected(#"{"replaced":\#(hadPassword)}"#))
        let removed = response(to: .integer(1), .passwordRemoved(hadPassword))
        #expect(removed == expected(#"{"removed":\#(hadPassword)}"#))
    }

    private func response(to id: RequestID, _ answer: QuestionAnswer) -> String? {
        body { $0.appendResponse(to: id) { $0.appendResult(answer, in: Effects()) } }
    }

    @Test(
        arguments: [
            (.integer(.min), "-9223372036854775808"), (.integer(0), "0"), (.unknown, "null"),
            (.text([]), "\"\""), (.text(Array("a\"\n".utf8)), #""a\"\n""#),
        ] as [(RequestID, String)])
    func `an id comes back as it was sent`(id: RequestID, json: String) {
        let expected = #"{"jsonrpc":"2.0","id":\#(json),"result":{}}"#
        #expect(result(.loggedOut, id: id) == expected)
    }

    @Test func `a notification is not answered`() {
        var bytes: [UInt8] = [9]
        let outcome = bytes.appendAnswerBody(
            .loggedOut, to: .none, in: Effects(), settings: Settings())
        bytes.appendErrorBody(Rejection(.forbidden), to: .none, in: Effects())
        bytes.appendErrorBody(EnvelopeError(.unknownMethod), to: .none)
        bytes.appendResponse(to: .none) { $0.appendResult(.metrics([1]), in: Effects()) }
        #expect(outcome == .appended)
        #expect(bytes == [9])
    }

    @Test func `a list that no body holds leaves the buffer as it was`() {
        var fixture = Fixture()
        fixture.effects.events = (0..<50).map { _ in fixture.event("p") }
        var settings = Settings()
        settings.limits.serverFrameBytesMax = 2_000
        func answer(_ count: Int) -> (AnswerOutcome, [UInt8]) {
            var bytes: [UInt8] = [1, 2]
            let outcome = bytes.appendAnswerBody(
                .states(0..<count), to: .integer(1), in: fixture.effects, settings: settings)
            return (outcome, bytes)
        }
        guard case .tooLarge(let fit) = answer(50).0 else {
            Issue.record("50 states in 2,000 bytes")
            return
        }
        // No more than the place that is left for what follows a list is lost.
        #expect(fit * (Self.state.utf8.count + 1) > 2_000 - 64 - 2 * Self.state.utf8.count)
        for count in 1...50 {
            let (outcome, bytes) = answer(count)
            #expect(outcome == (count <= fit ? .appended : .tooLarge(entriesFit: fit)))
            #expect(bytes.count <= 2 + 2_000)
            #expect((bytes == [1, 2]) == (count > fit))
        }
    }
}
