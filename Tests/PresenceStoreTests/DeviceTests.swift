import GRDB
import Testing

@testable import PresenceStore

/// What apps say of devices, which is all loaded at the start.
@Suite struct DeviceTests {
    private let directory = TemporaryDirectory()
    private let outcomes = Outcomes()
    private let faults = InjectedFaults()

    private func start() throws -> Store {
        let store = try Store.open(
            directory: directory.data, durability: .full, tuning: StoreTuning(faults))
        store.start(outcome: outcomes.report)
        return store
    }

    private func row(
        _ account: String, _ device: String, alias: String = "", tags: String = "",
        push: String = "", updated: Int64 = 7
    ) -> DeviceRow {
        var row = DeviceRow(account: name(account), device: name(device))
        row.alias = name(alias)
        row.tags = name(tags)
        row.pushAddress = name(push)
        row.updated = updated
        return row
    }

    private func loaded() throws -> [[String]: DeviceRow] {
        try Contents(of: directory.data).devices
    }

    private func remove(_ account: String, _ device: String) -> Write {
        .removeDevice(account: name(account), device: name(device))
    }

    @Test func `are put, replaced, removed and loaded`() throws {
        let store = try start()
        let phone = row(
            "bob", "phone", alias: "鲍勃", tags: "a\u{1F}vip\u{1F}会员", push: "apns:\"6f\"\0",
            updated: -3)
        let (pad, other) = (row("bob", "pad", push: "x"), row("eve", "phone", alias: "eve"))
        #expect(
            try store.write(
                .putDevice(row("bob", "phone", alias: "old", tags: "gone", push: "old")),
                .putDevice(pad), .putDevice(other), .putDevice(row("zoe", "tv", tags: "t")),
                into: outcomes)
                == [.committed, .committed, .committed, .committed])
        #expect(
            try store.write(
                .putDevice(phone), remove("zoe", "tv"), remove("bob", "tv"), remove("al", "phone"),
                into: outcomes)
                == [.committed, .committed, .committed, .committed])
        store.stop()
        #expect(
            try loaded() == [
                ["bob", "phone"]: phone, ["bob", "pad"]: pad, ["eve", "phone"]: other,
            ])
    }

    @Test func `lose a push address in the write that gives it to another`() throws {
        let store = try start()
        let (ann, bob) = (row("ann", "web", alias: "a"), row("bob", "web"))
        _ = try store.write(
            .putDevice(row("ann", "web", alias: "a", push: "x")),
            .putDevice(row("bob", "web", push: "y")), into: outcomes)
        let (cid, dot) = (row("cid", "web", push: "x"), row("dot", "web", push: "y"))
        faults.fail(.commit, code: 13)
        #expect(
            try store.write(.putDevice(cid, takingFrom: ann), into: outcomes) != [.committed])
        _ = try store.write(.putDevice(dot, takingFrom: bob), into: outcomes)
        store.stop()
        // One that has nothing else is removed.
        #expect(
            try loaded() == [
                ["ann", "web"]: row("ann", "web", alias: "a", push: "x"), ["dot", "web"]: dot,
            ])
    }

    @Test func `that could not be stored are not there, and those before are`() throws {
        let store = try start()
        let first = row("bob", "phone", alias: "first")
        _ = try store.write(.putDevice(first), into: outcomes)
        faults.fail(.commit, code: 13)
        let failed = try store.write(
            .putDevice(row("bob", "phone", alias: "second")), into: outcomes)
        #expect(failed != [.committed])
        store.stop()
        #expect(try loaded() == [["bob", "phone"]: first])
    }

    @Test func `whose lazy removal failed are removed before one is put again`() throws {
        let store = try start()
        _ = try store.write(
            .putDevice(row("bob", "phone", alias: "first")), .putDevice(row("bob", "pad")),
            into: outcomes)
        faults.fail(.commit, code: 13)
        store.writeLazily(remove("bob", "phone"), remove("bob", "pad"))
        _ = try store.write(.putDevice(row("bob", "phone", alias: "second")), into: outcomes)
        let third = row("bob", "phone", alias: "third")
        let again = try store.write(.putDevice(third), into: outcomes)
        #expect(again == [.committed])
        store.stop()
        #expect(try loaded() == [["bob", "phone"]: third])
    }

    @Test func `that are retained are one of each key, the newest`() throws {
        var retained = RetainedWrites()
        retained.absorb(.putDevice(row("bob", "phone", alias: "first")))
        retained.absorb(.putDevice(row("bob", "pad", alias: "pad")))
        retained.absorb(.putDevice(row("eve", "phone", alias: "eve")))
        retained.absorb(remove("bob", "phone"))
        retained.absorb(.putDevice(row("bob", "pad", alias: "newer")))
        #expect(retained.keyCount == 3)
        var puts: [DeviceRow] = []
        var removed: [[UInt8]] = []
        for submission in retained.drain() {
            switch submission.write {
            case .putDevice(let row, _): puts.append(row)
            case .removeDevice(let account, let device): removed += [account, device]
            default: Issue.record("another write")
            }
        }
        #expect(Set(puts.map(\.alias)) == [name("newer"), name("eve")] && puts.count == 2)
        #expect(removed == [name("bob"), name("phone")])
        #expect(retained.isEmpty)
    }

    @Test func `count in a transaction by their bytes`() {
        #expect(Write.putDevice(row("a", "d")).rowCount == 1)
        #expect(Write.putDevice(row("a", "d", alias: "x")).rowCount == 2)
        let long = String(repeating: "x", count: 1_024)
        #expect(Write.putDevice(row("a", "d", tags: long, push: long + long)).rowCount == 7)
        #expect(Write.putDevice(row("a", "d", alias: "x", tags: long, push: long)).rowCount == 6)
        #expect(remove("a", "d").rowCount == 1)
    }

    @Test func `do not wait for others to be committed`() {
        #expect(!Submission(write: .putDevice(row("a", "d"))).canWait)
        #expect(!Submission(write: remove("a", "d")).canWait)
    }

    @Test func `are none in a database of before, and in a backup`() throws {
        try start().stop()
        let older = try DatabaseQueue(path: directory.database)
        try older.inDatabase { db in
            try db.execute(
                sql: """
                    DROP TABLE device;
                    DELETE FROM grdb_migrations WHERE identifier = '010 device';
                    """)
        }
        try older.close()
        let store = try start()
        let bob = row("bob", "phone", alias: "b", tags: "t", push: "p")
        _ = try store.write(.putDevice(bob), into: outcomes)
        let (file, restored) = (directory.path + "/copy", directory.path + "/restored")
        _ = try Backup.make(of: directory.data, to: file, existing: .kept)
        store.stop()
        try Backup.restore(from: file, to: restored, at: 0)
        #expect(try Contents(of: restored).devices == [["bob", "phone"]: bob])
    }
}
