import PresenceClient
import PresenceCore
import PresenceWire
import Testing

@testable import PresenceServer

/// The positions of readers, without a service.
@Suite struct `Readers of what is undelivered` {
    private let one = ConnectionID(slot: 1, generation: 1)
    private let now = Mono(milliseconds: 5_000)

    @Test func `begin at their cursor, if it is of this database`() {
        var readers = UndeliveredReaders(identity: 7)
        func begin(_ cursor: FeedCursor?) -> UInt64 {
            let begun = readers.begin(one, after: cursor, isReady: false, last: 100)
            #expect(begun.epoch == 7 && readers.readers.count == 1)
            return begun.seq
        }
        #expect(begin(nil) == 0)
        #expect(begin(FeedCursor(epoch: 7, seq: 50)) == 50)
        #expect(begin(FeedCursor(epoch: 8, seq: 50)) == 0)
        // A database that was set back to before the cursor.
        #expect(begin(FeedCursor(epoch: 7, seq: 101)) == 0)
        readers.end(one)
        #expect(readers.readers.isEmpty)
    }

    @Test func `are sent one share at a time`() {
        var readers = UndeliveredReaders(identity: 7)
        _ = readers.begin(one, after: nil, isReady: false, last: 0)
        #expect(!readers.isDue(0, upTo: 9, at: now))
        readers.drained(0)
        #expect(readers.isDue(0, upTo: 9, at: now) && !readers.isDue(0, upTo: 0, at: now))
        let number = readers.read(UndeliveredShare(messages: [], upTo: 9), for: 0)
        #expect(!readers.isDue(0, upTo: 9, at: now))
        #expect(readers.endRead(number)?.share.upTo == 9)
        #expect(readers.endRead(number)?.share == nil)
        readers.sent(upTo: 9, to: 0)
        readers.drained(0)
        #expect(!readers.isDue(0, upTo: 9, at: now) && readers.isDue(0, upTo: 10, at: now))
        // A connection that asks anew says only once that it has written everything.
        _ = readers.begin(one, after: nil, isReady: true, last: 0)
        #expect(readers.isDue(0, upTo: 9, at: now))
    }

    @Test func `wait for a second when the store has failed`() {
        var readers = UndeliveredReaders(identity: 7)
        _ = readers.begin(one, after: nil, isReady: false, last: 0)
        readers.drained(0)
        let number = readers.read(UndeliveredShare(messages: [], upTo: 9), for: 0)
        #expect(readers.endRead(number)?.place == 0)
        readers.pause(until: now.advanced(bySeconds: 1))
        let later = now.advanced(bySeconds: 1)
        #expect(!readers.isDue(0, upTo: 9, at: now) && readers.nextDeadline(after: now) == later)
        // A time that has passed is no deadline, or the service would never rest.
        #expect(readers.isDue(0, upTo: 9, at: later) && readers.nextDeadline(after: later) == nil)
        readers.end(one)
        #expect(readers.nextDeadline(after: now) == nil)
    }
}

/// A service, and app servers that read what is undelivered.
@Suite struct `What no device has taken in time` {
    /// The next messages, as "body: why", and the cursor after them.
    private func next(_ server: Client) throws -> (messages: [String], cursor: String) {
        let params = try server.next("undelivered")
        let messages = (params["undelivered"]?.array ?? []).map {
            "\($0["body"]?.string ?? "-"): \($0["why"]?.string ?? "-")"
        }
        return (messages, params["cursor"]?.string ?? "-")
    }

    private func send(_ server: Client, _ account: JSON, _ body: String) throws {
        _ = try server.call("send", ["accounts": [account], "body": .string(body)])
    }

    @Test(arguments: [1, 3])
    func `is told app servers once, from where they were`(loops: Int) throws {
        try withService({ $0.loops = loops }) { service in
            let server = try service.appServer()
            try send(server, "lisi", "one")
            let began = try server.call("undelivered")["cursor"]?.string
            #expect(began?.hasSuffix("0000000000000") == true)
            let (first, cursor) = try next(server)
            #expect(first == ["one: absent"])
            try send(server, "lisi", "two")
            #expect(try next(server).messages == ["two: absent"])
            // Another reader goes on where the first was; one without a cursor is told everything.
            let second = try service.appServer()
            #expect(
                try second.call("undelivered", ["cursor": .string(cursor)])["cursor"]?.string
                    == cursor)
            #expect(try next(second).messages == ["two: absent"])
            _ = try second.call("undelivered")
            #expect(try next(second).messages == ["one: absent", "two: absent"])
            // What was taken is told nobody.
            let lisi = try service.login("lisi", "d1", ["messages": true])
            let messages = try lisi.next("messages")["messages"]?.array
            _ = try lisi.call("take", ["id": try #require(messages?.last?["id"])])
            let third = try service.appServer()
            _ = try third.call("undelivered")
            try send(third, "wangwu", "three")
            let told = try third.next("undelivered")["undelivered"]?.array
            #expect(told?.count == 1 && told?[0]["account"] == "wangwu")
            #expect(told?[0]["waiting"] == 1 && told?[0]["devices"] == [])
        }
    }

    @Test func `is told when a device has not taken it for ten seconds`() throws {
        try withService { service in
            let server = try service.appServer()
            _ = try server.call("undelivered")
            let lisi = try service.login("lisi", "phone", ["messages": true])
            _ = try lisi.call("send", ["accounts": ["lisi"], "body": "one", "device": "phone"])
            _ = try lisi.next("messages")
            service.pass(seconds: 10)
            let told = try server.next("undelivered")["undelivered"]?.array?.first
            #expect(told?["why"] == "untaken" && told?["from"] == "lisi")
            #expect(told?["devices"]?.array?.first?["device"] == "phone")
        }
    }

    @Test func `takes the place of the feed on a connection, and counts with it`() throws {
        try withService({ $0.feed.readersMax = 2 }) { service in
            let server = try service.appServer()
            _ = try server.call("feed")
            _ = try server.call("undelivered")
            let other = try service.appServer()
            _ = try other.call("feed")
            let third = try service.appServer()
            #expect(third.rejection("undelivered") == "419 feed_quota")
            #expect(third.rejection("feed") == "419 feed_quota")
            try send(server, "lisi", "one")
            #expect(try next(server).messages == ["one: absent"])
            _ = try server.call("feed")
            _ = try server.call("undelivered", ["cursor": "nonsense"])
            #expect(try next(server).messages == ["one: absent"])
            let client = try service.login("alice")
            #expect(client.rejection("undelivered") == "403 forbidden")
        }
    }

    @Test func `is none without messages`() throws {
        try withService({ $0.engine.messages = .off }) { service in
            let server = try service.appServer()
            #expect(server.rejection("undelivered") == "403 forbidden")
        }
    }
}
