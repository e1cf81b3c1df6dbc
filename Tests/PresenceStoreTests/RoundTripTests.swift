import GRDB
import PresenceStore
import Testing

/// What is written comes back, row by row, from every table.
@Suite struct RoundTripTests {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()

    private func contents(after writes: Write...) throws -> Contents {
        let store = try Store.open(directory: directory.data, durability: .full)
        store.start(outcome: outcomes.report)
        for write in writes {
            #expect(try store.write(write, into: outcomes) == [.committed])
        }
        #expect(store.stop() == store.stop())
        return try Contents(of: directory.data)
    }

    @Test func `a new store is empty`() throws {
        #expect(try contents() == Contents())
    }

    @Test func `accounts are put and replaced`() throws {
        let first = AccountRow(name: name("bob"), value: 1, lastSeen: 5)
        let second = AccountRow(name: name("bob"), value: 3, lastSeen: -7)
        #expect(
            try contents(after: .putAccount(first), .putAccount(second)).accounts == ["bob": second]
        )
    }

    @Test func `accounts are removed`() throws {
        let bob = AccountRow(name: name("bob"), value: 1, lastSeen: 5)
        let eve = AccountRow(name: name("eve"), value: 1, lastSeen: 5)
        let found = try contents(
            after: .putAccount(bob), .putAccount(eve), .removeAccount(name("bob")),
            .removeAccount(name("nobody")))
        #expect(found.accounts == ["eve": eve])
    }

    @Test func `sessions are put, replaced and removed`() throws {
        var phone = SessionRow(account: name("bob"), device: name("phone"))
        var pushed = phone
        pushed.client = 65
        pushed.push = true
        pushed.pushUntil = 11
        pushed.loggedIn = 12
        pushed.ordinal = .max
        pushed.address = name("[::1]:5")
        let tablet = SessionRow(account: name("bob"), device: name("tablet"))
        phone.ordinal = 1
        let found = try contents(
            after: .putSession(phone), .putSession(tablet), .putSession(pushed),
            .removeSession(account: name("bob"), device: name("tablet")))
        #expect(found.sessions == [["bob", "phone"]: pushed])
    }

    @Test func `statuses are put, replaced and removed`() throws {
        var status = StatusRow(account: name("bob"), type: 1)
        status.value = 10_001
        status.ext = name("in a \"meeting\" 会议")
        status.kept = true
        status.expires = 22
        var other = StatusRow(account: name("bob"), type: 65_535)
        other.value = .max
        let found = try contents(
            after: .putStatus(StatusRow(account: name("bob"), type: 1)), .putStatus(other),
            .putStatus(status), .putStatus(StatusRow(account: name("al"), type: 1)),
            .removeStatus(account: name("al"), type: 1))
        #expect(found.statuses == ["bob 1": status, "bob 65535": other])
    }

    @Test func `a subscription that exists keeps its creation and gets the new expiry`() throws {
        let found = try contents(
            after: .putSubscriptions(
                subscriber: name("al"), type: 1, publishers: names(["bob", "eve"]), created: 1,
                expires: 10),
            .putSubscriptions(
                subscriber: name("al"), type: 1, publishers: names(["bob", "zoe", "bob"]),
                created: 2, expires: 20))
        #expect(found.subscriptions(of: "al") == ["bob 1 20", "eve 1 10", "zoe 2 20"])
    }

    @Test func `subscriptions are removed by name and by type`() throws {
        func put(_ subscriber: String, _ type: UInt16) -> Write {
            .putSubscriptions(
                subscriber: name(subscriber), type: type, publishers: names(["a", "b", "c"]),
                created: 1, expires: 2)
        }
        let found = try contents(
            after: put("al", 1), put("al", 100), put("eve", 1),
            .removeSubscriptions(
                subscriber: name("eve"), type: 1, publishers: names(["c", "missing", "a"])),
            .removeAllSubscriptions(subscriber: name("al"), type: 1))
        #expect(found.subscriptions(of: "eve") == ["b 1 2"])
        #expect(Set(found.subscriptions.keys.map(\.type)) == [1, 100])
        #expect(found.subscriptions(of: "al").count == 3)
    }

    @Test func `the reserved sequence never goes down`() throws {
        #expect(
            try contents(after: .reserveSequence(upTo: 1_000), .reserveSequence(upTo: 7)).sequence
                == 1_000)
    }

    @Test func `what expired before a time is removed`() throws {
        var old = StatusRow(account: name("old"), type: 1)
        old.expires = 99
        var new = StatusRow(account: name("new"), type: 1)
        new.expires = 100
        func put(_ publisher: String, _ expires: Int64) -> Write {
            .putSubscriptions(
                subscriber: name("al"), type: 1, publishers: names([publisher]), created: 1,
                expires: expires)
        }
        let found = try contents(
            after: .putStatus(old), .putStatus(new), put("old", 99), put("new", 100),
            .removeExpired(before: 100))
        #expect(found.statuses.keys.sorted() == ["new 1"])
        #expect(found.subscriptions(of: "al") == ["new 1 100"])
    }

    @Test func `relations of before have requests with a text only`() throws {
        var row = RelationRow(owner: name("ann"), contact: name("bob"))
        row.state = 1
        row.requestText = name("Hi")
        row.requestExtra = name("<x xmlns='u'/>")
        #expect(try contents(after: .putRelations([row])).relations == [["ann", "bob"]: row])
        let older = try DatabaseQueue(path: directory.database)
        try older.inDatabase { db in
            try db.execute(
                sql: """
                    ALTER TABLE relation DROP COLUMN requestExtra;
                    DELETE FROM grdb_migrations WHERE identifier = '007 request';
                    """)
        }
        try older.close()
        row.requestExtra = []
        #expect(try contents().relations == [["ann", "bob"]: row])
    }

    @Test func `an empty text and a name with a zero byte come back as they were`() throws {
        var session = SessionRow(account: [0x61, 0, 0x62], device: [])
        session.address = []
        #expect(try Array(contents(after: .putSession(session)).sessions.values) == [session])
    }
}
